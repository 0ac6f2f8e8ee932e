"""What a Ray must be like before the service starts in it."""

import ray

from poolpilot.errors import ServerError, SettingError
from poolpilot.serve.service.service_settings import ServeSettings

CONTROLLER = ("SERVE_CONTROLLER_ACTOR", "serve")
"""Name and namespace of what runs where Ray Serve does."""


def check_unused() -> None:
    """Refuses a Ray whose Ray Serve runs already: its proxies listen where somebody else has said.

    Raises:
        ServerError: It does.
    """
    try:
        ray.get_actor(*CONTROLLER)
    except ValueError:
        return
    raise ServerError(
        "this Ray runs Ray Serve already, and its proxies cannot be told where to listen: "
        "end it with `serve shutdown`, or name another ray_address"
    )


def check_room(settings: ServeSettings) -> None:
    """Refuses replicas that would wait for a processor for ever.

    Raises:
        SettingError: There are too few processors, or too few nodes for `replicas_per_node`.
    """
    per_node = settings.replicas_per_node or settings.replicas
    known = ray.nodes()  # type: ignore[no-untyped-call]
    nodes = [node["Resources"].get("CPU", 0.0) for node in known if node["Alive"]]
    room = sum(min(int(cpus), per_node) for cpus in nodes)
    if settings.replicas > room:
        raise SettingError(
            f"replicas is {settings.replicas}, but this Ray ({len(nodes)} nodes) has room for {room}: each replica "
            "plans with one processor; name fewer, raise replicas_per_node, or add nodes"
        )
