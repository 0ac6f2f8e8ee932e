"""A predictor that answers what a test tells it to, and a service that runs with it."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.serve.raw_server import Raw, RawServer
from tests.tls_identity import Identity

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Ranking
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.http_server import http_server, listening_socket
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.service_settings import ServeSettings


@dataclass
class TellablePredictor(Advisor):
    """Answers `pool_tuple`, or raises `error` if set, and keeps what it was asked."""

    pool_tuple: PoolTuple = field(default_factory=lambda: PoolTuple(16, 3, 10))
    gain: float = 0.3
    abstained: bool = False
    error: Exception | None = None
    asked: list[tuple[Sequence[Window], KnobSpace, Objective]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(Model(None, {}))

    def rank(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective, *_: Any, **__: Any) -> Ranking:
        return Ranking(self.predict(windows, limits, objective))

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        self.asked.append((windows, limits, objective))
        if self.error is not None:
            raise self.error
        return Prediction(
            pool_tuple=windows[-1].pool_tuple if self.abstained else self.pool_tuple,
            in_force=windows[-1].pool_tuple,
            abstained=self.abstained,
            reasons=("requests wait silently", "the processors are idle"),
            model_digest="ab" * 32,
            expected_gain=self.gain,
            gain_low=self.gain - 0.1,
            gain_high=self.gain + 0.1,
        )

    def probe(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> None:
        """Has no tuple to probe."""


@pytest.fixture
def predictor() -> TellablePredictor:
    return TellablePredictor()


@pytest.fixture
def tellable() -> Callable[..., TellablePredictor]:
    return TellablePredictor


@pytest.fixture
def outcome_values(request_values: dict[str, Any]) -> dict[str, Any]:
    """A valid body of POST /v1/outcomes."""
    before = request_values["windows"][0]
    after = {**before, "pool_tuple": {**before["pool_tuple"], "pool_size": 16}}
    return {
        "id": "db-1:2026-11-23T20:00:00",
        "server_id": "db-1 (the shop)",
        "propensity": 0.25,
        "model_digest": "ab" * 32,
        "verdict": "kept",
        "request": {**request_values, "windows": [before, after]},
    }


@dataclass
class Service:
    """A service on a free port of loopback."""

    address: tuple[str, int]

    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.address[0]}:{self.address[1]}"

    def connect(self) -> socket.socket:
        """Opens a connection over which nothing is sent yet; reading from it fails after half a minute."""
        return socket.create_connection(self.address, timeout=30.0)

    @contextmanager
    def in_work(self, body: object) -> Iterator[Callable[[], bytes]]:
        """Asks, and holds the last byte back: the service is waiting for it. What sends it gives the answer."""
        content = json.dumps(body).encode()
        head = f"POST /v1/predict HTTP/1.1\r\nHost: here\r\nContent-Length: {len(content)}\r\n"
        with self.connect() as connection:
            connection.sendall(f"{head}Content-Type: application/json\r\nExpect: 100-continue\r\n\r\n".encode())
            assert connection.recv(65_536).startswith(b"HTTP/1.1 100 ")
            connection.sendall(content[:-1])

            def finish() -> bytes:
                connection.sendall(content[-1:])
                return connection.recv(65_536)

            yield finish


def trusting(authority: Path, client: Identity | None = None) -> ssl.SSLContext:
    """What a client of a service trusts, and what it shows."""
    context = ssl.create_default_context(cafile=str(authority))
    if client is not None:
        context.load_cert_chain(client.certificate, client.key)
    return context


@contextmanager
def running_service(
    predictor: Advisor,
    *,
    outcomes: OutcomeLog | None = None,
    **values: object,
) -> Iterator[Service]:
    """Runs a service with some settings until the block ends."""
    service, end, thread = begun_service(predictor, outcomes=outcomes, **values)
    try:
        yield service
    finally:
        end()
        thread.join()


def begun_service(
    predictor: Advisor, *, outcomes: OutcomeLog | None = None, **values: object
) -> tuple[Service, Callable[[], None], threading.Thread]:
    """Begins a service in a thread, on whatever port is free; gives what ends it, too."""
    settings = ServeSettings.load(None, values)
    listener = listening_socket("127.0.0.1", 0, read_s=settings.read_timeout_s)
    address = listener.getsockname()
    server = http_server(create_app(predictor, settings, outcomes=outcomes), settings)
    thread = threading.Thread(target=server.run, args=(listener,))
    thread.start()
    return Service(address, "http" if settings.tls_certificate is None else "https"), server.end, thread


@pytest.fixture
def serving() -> Iterator[Callable[..., Service]]:
    """Starts services that end with the test."""
    with ExitStack() as running:
        yield lambda predictor, **given: running.enter_context(running_service(predictor, **given))


@pytest.fixture
def raw() -> Iterator[Raw]:
    """Starts services that answer with bytes."""
    made: list[RawServer] = []

    def make(*arguments: Any) -> RawServer:
        made.append(RawServer(*arguments))
        return made[-1]

    yield make
    for each in made:
        each.close()
