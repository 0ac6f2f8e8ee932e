"""The replicas of the service and Ray Serve's proxy before them: started, loaded again by SIGHUP, ended."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

import structlog
from ray import serve

from poolpilot.agent.training.ray_session import RaySettings, ray_session
from poolpilot.errors import PoolPilotError
from poolpilot.serve.replicas.deployment import deploy
from poolpilot.serve.replicas.every_replica import EveryReplica
from poolpilot.serve.replicas.joined_ray import check_room, check_unused
from poolpilot.serve.service.access.known_tokens import KnownTokens
from poolpilot.serve.service.http_server import listening_socket
from poolpilot.serve.service.predictor_by_kind import PredictorByKind
from poolpilot.serve.service.service_settings import ServeSettings

OBJECT_STORE_BYTES = 100_000_000
"""Memory of a local Ray for large objects, of which the service has none."""

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


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
