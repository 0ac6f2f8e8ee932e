"""The application under Ray Serve: its replicas and the proxies before them, started and waited for.

Ray Serve itself waits a minute for its proxies, which a busy host does not always keep; they come up after it as well,
so a minute that has passed is no failure and what Ray Serve says of itself is asked until all of it is up.
"""

import logging
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ray import serve
from ray.exceptions import RayError
from ray.serve.schema import ApplicationStatus, ProxyStatus, ServeStatus

from poolpilot.errors import ServerError
from poolpilot.serve.replicas.every_replica import APPLICATION
from poolpilot.serve.replicas.service_replica import ServiceReplica
from poolpilot.serve.service.service_settings import ServeSettings

BESIDE_THE_LIMIT = 16
"""Requests that a replica is handed above its limit: it answers those for its health and tells others it is busy."""

ATTEMPTS = 3
"""How often Ray Serve makes a replica before it gives up."""

REPLICA = "replica"
"""Name of what Ray Serve makes several of."""

UP_WITHIN_S = 300.0
"""How long proxies and replicas may take after Ray Serve's own minute has passed."""

LOOK_EVERY_S = 0.5

FAILED = (ApplicationStatus.DEPLOY_FAILED, ApplicationStatus.UNHEALTHY)

STATED = re.compile(r"^poolpilot\.errors\.\w+: (.+)$", re.MULTILINE)
"""An error of ours, as the last line of a traceback has it."""


def deploy(settings: ServeSettings) -> None:
    """Starts Ray Serve in the Ray that this process has joined, and waits until all replicas answer.

    Raises:
        ServerError: One, or a proxy, does not start.
    """
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    proxies = {"host": settings.host, "port": settings.port, "keep_alive_timeout_s": settings.keep_alive_s}
    try:
        with suppress(TimeoutError):
            serve.start(proxy_location="EveryNode", http_options=proxies)
    except (RayError, RuntimeError) as error:
        raise _no_proxy(settings, type(error).__name__) from error
    replica = serve.deployment(**_options(settings))(serve.ingress()(ServiceReplica))
    try:
        with suppress(TimeoutError):
            serve.run(replica.bind(_values(settings)), name=APPLICATION)
    except RuntimeError as error:
        raise ServerError(f"a replica does not start: {_reason(serve.status())}") from error
    await_all_up(settings)


def await_all_up(settings: ServeSettings) -> None:
    """Waits until the application runs and each node's proxy is healthy.

    Raises:
        ServerError: A replica has failed, or they are not up in time.
    """
    end_s = time.monotonic() + UP_WITHIN_S
    while not _all_up(status := serve.status()):
        application = status.applications.get(APPLICATION)
        if application is not None and application.status in FAILED:
            raise ServerError(f"a replica does not start: {_reason(status)}")
        if time.monotonic() > end_s:
            raise _no_proxy(settings, f"not up after {UP_WITHIN_S:g} s")
        time.sleep(LOOK_EVERY_S)


def _all_up(status: ServeStatus) -> bool:
    application = status.applications.get(APPLICATION)
    running = application is not None and application.status == ApplicationStatus.RUNNING
    return running and all(proxy == ProxyStatus.HEALTHY for proxy in status.proxies.values())


def _no_proxy(settings: ServeSettings, why: str) -> ServerError:
    return ServerError(
        f"Ray's HTTP proxy does not start on {settings.host} port {settings.port} ({why}): "
        "the host may be too busy, or the port be taken; Ray's logs say more"
    )


def _options(settings: ServeSettings) -> dict[str, Any]:
    """How many replicas there are, where, and what each is handed at once."""
    most = settings.concurrency_limit + BESIDE_THE_LIMIT
    return {
        "name": REPLICA,
        "num_replicas": settings.replicas,
        "max_replicas_per_node": settings.replicas_per_node,
        "max_ongoing_requests": most,
        "max_queued_requests": most * settings.replicas,
        "max_constructor_retry_count": ATTEMPTS,
        "ray_actor_options": {"num_cpus": 1},
    }


def _values(settings: ServeSettings) -> dict[str, Any]:
    """The settings fit for JSON; a replica has another working folder."""
    paths = {name: value.absolute() for name, value in settings if isinstance(value, Path)}
    return settings.model_copy(update=paths).model_dump(mode="json")


def _reason(status: ServeStatus) -> str:
    """What the last replica ended with, in one line of the tracebacks that Ray Serve hands on."""
    application = status.applications.get(APPLICATION)
    told = "" if application is None else application.deployments[REPLICA].message
    stated = STATED.findall(told)
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return str(stated[-1] if stated else lines[-1] if lines else "Ray Serve does not say why; its logs do")
