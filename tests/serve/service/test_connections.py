"""Connections over real sockets: who keeps silent is not waited for, and never long in the way of others."""

import http.client
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.serve.conftest import TellablePredictor, begun_service, trusting
from tests.tls_identity import make_identity

from poolpilot.models.advice.prediction import Predictor

METRICS = b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n"
HEALTH_CHECK = b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n"

PATIENT: dict[str, Any] = {"header_timeout_s": 3600}

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


def drip(connection: socket.socket, drop: bytes = b"a") -> None:
    """Sends something now and then until the service has ended the connection."""
    connection.settimeout(0.05)
    while True:
        connection.sendall(drop)
        with suppress(TimeoutError):
            connection.recv(65_536)


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


def test_silent_connections_take_nothing_from_others(
    serving: Serving, predictor: Predictor, kept_open: ExitStack, request_values: dict[str, Any]
) -> None:
    service = serving(predictor)
    held = [kept_open.enter_context(service.connect()) for _ in range(100)]
    assert httpx2.get(f"{service.url}/healthz").status_code == 200
    assert httpx2.post(f"{service.url}/v1/predict", json=request_values).status_code == 200
    assert answered(held[0]).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("sent", [b"", b"POST /v1/predict HTTP/1.1\r\nHost: here\r\nX-Half: "], ids=["silent", "half"])
def test_connection_without_whole_headers_is_ended(serving: Serving, predictor: Predictor, sent: bytes) -> None:
    service = serving(predictor, header_timeout_s=0.1)
    with service.connect() as connection:
        connection.sendall(sent)
        assert ended(connection)


def test_dripping_headers_buy_no_time(serving: Serving, predictor: Predictor) -> None:
    service = serving(predictor, header_timeout_s=0.3)
    with service.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nX-Long: ")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            drip(connection)


def test_half_of_a_second_request_is_not_waited_for_either(serving: Serving, predictor: Predictor) -> None:
    service = serving(predictor, header_timeout_s=1.0)
    with service.connect() as connection:
        answered(connection)
        connection.sendall(HEALTH_CHECK[:20])
        assert ended(connection)


@pytest.mark.parametrize(
    "opening",
    [
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5),
        b"GET /healthz HTTP/1.1\r\nHost: here\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
        b"HTTP2-Settings: AAQAAAAA\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    ],
    ids=["preface", "upgrade", "websocket"],
)
def test_who_speaks_another_protocol_is_not_listened_to(serving: Serving, predictor: Predictor, opening: bytes) -> None:
    """Hypercorn gives a client of HTTP/2 time without end before its first request, and for what it has not read."""
    service = serving(predictor, **PATIENT)
    with service.connect() as connection:
        connection.sendall(opening)
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            drip(connection, bytes(4) + b"\x06" + bytes(12))  # frames that ask for life signs
    assert httpx2.get(f"{service.url}/healthz").status_code == 200


@pytest.mark.parametrize("more", [b"more", b"1\r\na\r\n" * 100], ids=["length", "chunks"])
def test_rest_of_a_refused_body_is_not_waited_for(serving: Serving, predictor: Predictor, more: bytes) -> None:
    """Hypercorn would wait for ever where more parts come than it queues for the application."""
    service = serving(predictor, **PATIENT)
    framed = b"Content-Length: 100" if more == b"more" else b"Transfer-Encoding: chunked"
    with service.connect() as connection:
        connection.sendall(b"POST /v1/predict HTTP/1.1\r\nHost: here\r\n" + framed + b"\r\n\r\n" + more)
        assert b" 415 " in connection.recv(65_536)
        assert ended(connection)


def test_request_may_take_longer_than_its_headers(
    serving: Serving, predictor: Predictor, request_values: dict[str, Any]
) -> None:
    service = serving(predictor, header_timeout_s=1.0, body_timeout_s=60.0)
    with service.in_work(request_values) as finish:
        with service.connect() as silent:
            assert ended(silent), "the time of headers is over"
        assert finish().startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("tls", [False, True])
def test_who_reads_no_answers_is_not_waited_for(
    serving: Serving, predictor: Predictor, tmp_path: Path, tls: bool
) -> None:
    certificate, key = make_identity(tmp_path, "service")
    guarded = {"tls_certificate": certificate, "tls_key": key} if tls else {}
    service = serving(predictor, read_timeout_s=0.2, **PATIENT, **guarded)
    with service.connect() as connection:
        if tls:
            connection = trusting(certificate).wrap_socket(connection, server_hostname="127.0.0.1")
        with pytest.raises((BrokenPipeError, ConnectionResetError, ssl.SSLEOFError)):
            send_and_read_nothing(connection)
        connection.close()
    assert httpx2.get(f"{service.url}/healthz", verify=trusting(certificate)).status_code == 200


def test_handshakes_that_fail_end_at_once(
    serving: Serving, predictor: Predictor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    certificate, key = make_identity(tmp_path, "service")
    service = serving(predictor, tls_certificate=certificate, tls_key=key, **PATIENT)
    with trusting(certificate).wrap_socket(service.connect(), server_hostname="127.0.0.1") as client:
        assert answered(client).startswith(b"HTTP/1.1 200 ")
        with service.connect() as no_tls:
            no_tls.sendall(HEALTH_CHECK)
            assert ended(no_tls)
        assert answered(client).startswith(b"HTTP/1.1 200 ")
    assert "Traceback" not in caplog.text


def test_who_does_not_say_goodbye_is_not_waited_for(serving: Serving, predictor: Predictor, tmp_path: Path) -> None:
    certificate, key = make_identity(tmp_path, "service")
    service = serving(predictor, tls_certificate=certificate, tls_key=key, header_timeout_s=0.3)
    with trusting(certificate).wrap_socket(service.connect(), server_hostname="127.0.0.1") as client:
        assert answered(client).startswith(b"HTTP/1.1 200 ")
        began_s = time.monotonic()
        with socket.socket(fileno=client.detach()) as raw:  # past TLS: nothing is ever answered
            raw.settimeout(30.0)
            assert ended(raw)
        assert time.monotonic() - began_s < 10.0


SERVES = """
import asyncio, resource, sys
from poolpilot.serve.service.http_server import HttpServer, Patience, listening_socket
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    if scope["path"] == "/wait":
        print("asked", flush=True)
        await asyncio.sleep(3600.0)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})
descriptors = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
listener = listening_socket("127.0.0.1", 0)
print(listener.getsockname()[1], flush=True)
try:
    HttpServer(app, Patience(2.0, 3600.0)).run(listener)
except KeyboardInterrupt:
    print("interrupted")
"""


@contextmanager
def serves(descriptors: int = 256) -> Iterator[tuple["subprocess.Popen[str]", tuple[str, int]]]:
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-c", SERVES, str(descriptors)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, ("127.0.0.1", int(process.stdout.readline()))
        finally:
            process.kill()


def test_a_second_signal_waits_for_nobody() -> None:
    with serves() as (process, address), socket.create_connection(address, 30.0) as client:
        client.sendall(b"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        assert process.stdout is not None
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=30.0)[0] == "interrupted\n"
        assert process.returncode == 0


def test_a_flood_up_to_the_descriptors_is_waited_for_no_longer_than_its_headers(kept_open: ExitStack) -> None:
    with serves(descriptors=64) as (_, address):
        for _ in range(100):
            kept_open.enter_context(socket.create_connection(address, 30.0))
        asking = http.client.HTTPConnection(*address, timeout=30.0)
        began_s = time.monotonic()
        asking.request("GET", "/")
        assert asking.getresponse().status == 200
        asking.close()
        assert time.monotonic() - began_s < 2 * (2.0 + 1.0) + 1.0, "two floods of that size, a second for descriptors"


def test_the_end_waits_for_what_is_in_work_and_for_nothing_else(
    predictor: TellablePredictor, request_values: dict[str, Any]
) -> None:
    service, end, thread = begun_service(predictor, body_timeout_s=60.0, **PATIENT)
    with service.in_work(request_values) as finish, service.connect() as silent:
        end()
        assert ended(silent)
        with pytest.raises(OSError, match="refused"):
            service.connect().close()
        assert finish().startswith(b"HTTP/1.1 200 ")
    thread.join(10.0)
    assert not thread.is_alive()


def test_nothing_is_kept_of_who_asks_much_and_reads_nothing(predictor: TellablePredictor) -> None:
    """Hypercorn would keep its connection for ever, and wait for it at the end."""
    service, end, thread = begun_service(predictor, read_timeout_s=0.2, body_timeout_s=60.0, **PATIENT)
    with service.connect() as connection, pytest.raises((BrokenPipeError, ConnectionResetError)):
        send_and_read_nothing(connection)
    end()
    thread.join(10.0)
    assert not thread.is_alive()
