"""Connections over real sockets: who keeps silent is not waited for, and never in the way of others."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.serve.conftest import trusting
from tests.tls_identity import make_identity

from poolpilot.models.advice.prediction import Predictor

METRICS = b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n"
HEALTH_CHECK = b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n"

Serving = Callable[..., Any]


def ended(connection: socket.socket) -> bool:
    """Waits for the service to end a connection; what it sent before is read over."""
    with suppress(ConnectionResetError):
        while connection.recv(65_536):
            pass
    return True


def answered(connection: socket.socket) -> bytes:
    """Asks for the health over an open connection; the status line of the answer."""
    connection.sendall(HEALTH_CHECK)
    received = b""
    while b'"status":"ok"' not in received:
        received += connection.recv(65_536) or pytest.fail(f"ended after {received!r}")
    return received.partition(b"\r\n")[0]


def send_and_read_nothing(connection: socket.socket) -> None:
    """Asks again and again until the service has ended the connection."""
    asked, left = METRICS * 1000, b""
    connection.settimeout(0.1)
    while True:
        left = left or asked
        with suppress(TimeoutError):
            left = left[connection.send(left) :]


@pytest.fixture
def kept_open() -> Iterator[ExitStack]:
    with ExitStack() as connections:
        yield connections


@pytest.mark.parametrize("silent", [64, 100])
def test_silent_connections_take_nothing_from_others(
    serving: Serving, predictor: Predictor, kept_open: ExitStack, request_values: dict[str, Any], silent: int
) -> None:
    service = serving(predictor)
    held = [kept_open.enter_context(service.connect()) for _ in range(silent)]
    assert httpx2.get(f"{service.url}/healthz").status_code == 200
    assert httpx2.post(f"{service.url}/v1/predict", json=request_values).status_code == 200
    assert answered(held[0]) == b"HTTP/1.1 200 OK"


@pytest.mark.parametrize("sent", [b"", b"POST /v1/predict HTTP/1.1\r\nHost: here\r\nX-Half: "], ids=["silent", "half"])
def test_connection_without_whole_headers_is_ended(serving: Serving, predictor: Predictor, sent: bytes) -> None:
    service = serving(predictor, header_timeout_s=0.1)
    with service.connect() as connection:
        connection.sendall(sent)
        assert ended(connection)


def drip(connection: socket.socket) -> None:
    """Sends a byte now and then until the service has ended the connection."""
    connection.settimeout(0.05)
    while True:
        connection.sendall(b"a")
        with suppress(TimeoutError):
            connection.recv(1)


def test_dripping_headers_buy_no_time(serving: Serving, predictor: Predictor) -> None:
    service = serving(predictor, header_timeout_s=0.3)
    with service.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: ")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            drip(connection)


def test_half_of_a_second_request_is_not_waited_for_either(serving: Serving, predictor: Predictor) -> None:
    service = serving(predictor, header_timeout_s=1.0, keep_alive_s=3600)
    with service.connect() as connection:
        answered(connection)
        connection.sendall(HEALTH_CHECK[:20])
        assert ended(connection)


def test_rest_of_a_refused_body_is_not_waited_for(serving: Serving, predictor: Predictor) -> None:
    service = serving(predictor, header_timeout_s=1.0, keep_alive_s=3600)
    with service.connect() as connection:
        connection.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: here\r\nContent-Length: 100\r\n\r\nhalf")
        assert b" 415 " in connection.recv(65_536)
        connection.sendall(b"more")
        assert ended(connection)


def test_request_may_take_longer_than_its_headers(
    serving: Serving, predictor: Predictor, request_values: dict[str, Any]
) -> None:
    service = serving(predictor, header_timeout_s=1.0, body_timeout_s=60.0)
    with service.in_work(request_values) as finish:
        with service.connect() as silent:
            assert ended(silent), "the time of headers is over"
        assert finish().startswith(b"HTTP/1.1 200 ")


def test_longest_idle_connection_gives_way(serving: Serving, predictor: Predictor, kept_open: ExitStack) -> None:
    service = serving(predictor, connection_limit=3, header_timeout_s=3600, keep_alive_s=3600)
    first, second, third = (kept_open.enter_context(service.connect()) for _ in range(3))
    assert answered(second) == answered(first) == answered(third) == b"HTTP/1.1 200 OK"
    fourth = kept_open.enter_context(service.connect())
    assert answered(fourth) == b"HTTP/1.1 200 OK"
    assert ended(second), "it was the first to ask"
    assert answered(first) == answered(third) == answered(fourth) == b"HTTP/1.1 200 OK"


def test_handshakes_that_never_come_give_way_too(
    serving: Serving, predictor: Predictor, kept_open: ExitStack, tmp_path: Path
) -> None:
    """Before, they were counted once they were over: a host without a token could take every descriptor."""
    certificate, key = make_identity(tmp_path, "service")
    service = serving(predictor, tls_certificate=certificate, tls_key=key, connection_limit=3, header_timeout_s=3600)
    silent = [kept_open.enter_context(service.connect()) for _ in range(6)]
    assert httpx2.get(f"{service.url}/healthz", verify=trusting(certificate)).status_code == 200
    assert all(ended(each) for each in silent[:4]), "the service itself was asked over one of three"


def test_handshakes_that_fail_take_no_place(
    serving: Serving, predictor: Predictor, kept_open: ExitStack, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    certificate, key = make_identity(tmp_path, "service")
    service = serving(predictor, tls_certificate=certificate, tls_key=key, connection_limit=2, keep_alive_s=3600)
    client = kept_open.enter_context(trusting(certificate).wrap_socket(service.connect(), server_hostname="127.0.0.1"))
    assert answered(client) == b"HTTP/1.1 200 OK"
    for _ in range(5):
        with service.connect() as no_tls:
            no_tls.sendall(HEALTH_CHECK)
            assert ended(no_tls)
    assert answered(client) == b"HTTP/1.1 200 OK", "it has not given way"
    assert "Traceback" not in caplog.text


def test_connection_that_is_being_answered_does_not_give_way(
    serving: Serving, predictor: Predictor, request_values: dict[str, Any]
) -> None:
    service = serving(predictor, connection_limit=1, body_timeout_s=60.0)
    with service.in_work(request_values) as finish:
        with service.connect() as newcomer:
            assert ended(newcomer)
        assert finish().startswith(b"HTTP/1.1 200 ")


def test_who_reads_no_answers_is_not_waited_for(serving: Serving, predictor: Predictor) -> None:
    service = serving(predictor, read_timeout_s=0.2, header_timeout_s=3600, keep_alive_s=3600, connection_limit=2)
    with service.connect() as connection:
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            send_and_read_nothing(connection)
        assert httpx2.get(f"{service.url}/healthz").status_code == 200


def test_body_that_goes_wrong_after_its_answer_ends_quietly(
    serving: Serving, predictor: Predictor, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(predictor).connect() as connection:
        connection.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert b" 415 " in connection.recv(65_536)
        connection.sendall(b"zz\r\n")
        assert ended(connection)
    assert "Fatal error" not in caplog.text
