"""The replicas of the service and Ray Serve's proxy before them: started, loaded again by SIGHUP, ended."""

import asyncio
import logging
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import structlog
from ray import serve
from ray.exceptions import RayError

from poolpilot.agent.training.ray_session import RaySettings, ray_session
from poolpilot.errors import PoolPilotError, ServerError
from poolpilot.serve.replicas.every_replica import APPLICATION, EveryReplica
from poolpilot.serve.replicas.joined_ray import check_room, check_unused
from poolpilot.serve.replicas.service_replica import ServiceReplica
from poolpilot.serve.service.access.known_tokens import KnownTokens
from poolpilot.serve.service.http_server import listening_socket
from poolpilot.serve.service.predictor_by_kind import PredictorByKind
from poolpilot.serve.service.service_settings import ServeSettings

OBJECT_STORE_BYTES = 100_000_000
"""Memory of a local Ray for large objects, of which the service has none."""

BESIDE_THE_LIMIT = 16
"""Requests that a replica is handed above its limit: it answers those for its health and tells others it is busy."""

ATTEMPTS = 3
"""How often Ray Serve makes a replica before it gives up."""

REPLICA = "replica"
"""Name of what Ray Serve makes several of."""

STATED = re.compile(r"^poolpilot\.errors\.\w+: (.+)$", re.MULTILINE)
"""An error of ours, as the last line of a traceback has it."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_LOG = structlog.get_logger(__name__)


def serve_under_ray(settings: ServeSettings, announce: Callable[[str], None]) -> None:
    """Serves until it is interrupted; then the replicas end, and Ray where it was started here.

    Args:
        settings: With `ray`.
        announce: Shows a line to the user.

    Raises:
        KeyboardInterrupt: Ctrl-C, or SIGTERM.
        ArtefactError: A model is missing or damaged.
        SettingError: No Ray can be joined, it has too little room, or the file of tokens is refused.
        ServerError: The port is in use, that Ray serves already, or a replica does not start.
    """
    listening_socket(settings.host, settings.port).close()  # the proxy would try again and again, in its log
    KnownTokens(settings.token_file)
    PredictorByKind.load(settings.model)
    size = RaySettings(address=settings.ray_address, cpus=settings.replicas, object_store_bytes=OBJECT_STORE_BYTES)
    announce(f"starting {settings.replicas} replicas under Ray Serve")
    with ray_session(size):
        check_unused()
        check_room(settings)
        try:
            deploy(settings)
            with _signals() as came:
                announce(f"POST http://{_shown(settings.host)}:{settings.port}/v1/predict (Ctrl-C ends)")
                _wait(came)
        finally:
            serve.shutdown()  # type: ignore[no-untyped-call]


def deploy(settings: ServeSettings) -> None:
    """Starts Ray Serve in the Ray that this process has joined, and waits until all replicas answer.

    Raises:
        ServerError: One, or a proxy, does not start.
    """
    logging.getLogger("ray.serve").setLevel(logging.ERROR)
    proxies = {"host": settings.host, "port": settings.port, "keep_alive_timeout_s": settings.keep_alive_s}
    try:
        serve.start(proxy_location="EveryNode", http_options=proxies)
    except (RayError, RuntimeError, TimeoutError) as error:
        raise ServerError(
            f"Ray's HTTP proxy does not start on {settings.host} port {settings.port} ({type(error).__name__}): "
            "the host may be too busy, or the port be taken; Ray's logs say more"
        ) from error
    replica = serve.deployment(**_options(settings))(serve.ingress()(ServiceReplica))
    try:
        serve.run(replica.bind(_values(settings)), name=APPLICATION)
    except RuntimeError as error:
        raise ServerError(f"a replica does not start: {_reason()}") from error


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


@contextmanager
def _signals() -> Iterator[SimpleQueue[int]]:
    """Gives the signals that come, in place of what they do otherwise."""
    came: SimpleQueue[int] = SimpleQueue()
    before = {number: signal.signal(number, lambda number, _: came.put(number)) for number in SIGNALS}
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait(came: SimpleQueue[int]) -> None:
    """Loads again at each SIGHUP, until another signal comes.

    Raises:
        KeyboardInterrupt: One came.
    """
    while (number := came.get()) == signal.SIGHUP:
        try:
            asyncio.run(EveryReplica().renew())
        except PoolPilotError as error:
            _LOG.error("not every replica has loaded everything again; the old stays in force there", error=str(error))
    raise KeyboardInterrupt(signal.Signals(number).name)


def _reason() -> str:
    """What the last replica ended with, in one line of the tracebacks that Ray Serve hands on."""
    application = serve.status().applications.get(APPLICATION)
    told = "" if application is None else application.deployments[REPLICA].message
    stated = STATED.findall(told)
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    return str(stated[-1] if stated else lines[-1] if lines else "Ray Serve does not say why; its logs do")


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
