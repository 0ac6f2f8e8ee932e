"""What the server makes of HTTP: bodies, heads, requests in a row, applications that fail; and how it ends."""

import asyncio
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from poolpilot.serve.service.connections.asgi_server import AsgiServer
from poolpilot.serve.service.connections.http_connection import ConnectionLimits

LIMITS = ConnectionLimits(most=16, header_s=30.0, read_s=30.0, keep_alive_s=30.0, grace_s=30.0)


class Echo:
    """Answers with what it was asked, in two pieces; `/wait` waits, and `/fail` fails at different moments."""

    def __init__(self) -> None:
        self.entered, self.may_answer = threading.Event(), threading.Event()
        self.scopes: list[Scope] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scopes.append(scope)
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if scope["path"] == "/wait":
            self.entered.set()
            assert await asyncio.to_thread(self.may_answer.wait, 30.0)
        if scope["path"] == "/fail":
            raise ValueError("before it has begun")
        told = {"method": scope["method"], "path": scope["path"], "body": body.decode("latin-1")}
        content = json.dumps(told).encode()
        length = (b"content-length", str(len(content)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": content[:5], "more_body": True})
        if scope["path"] == "/fail/late":
            raise ValueError("in the middle")
        await send({"type": "http.response.body", "body": content[5:]})


@contextmanager
def running(app: Echo, listener: socket.socket | None = None) -> Iterator[tuple[AsgiServer, tuple[str, int]]]:
    """A server in a thread, and its address."""
    server, listener = AsgiServer(app, LIMITS), listener or socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=(listener,))
    address = listener.getsockname()
    thread.start()
    try:
        yield server, address
    finally:
        app.may_answer.set()
        server.end()
        thread.join()


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def client(echo: Echo) -> Iterator[socket.socket]:
    with running(echo) as (_, address), socket.create_connection(address, 30.0) as connection:
        yield connection


def all_of(client: socket.socket) -> bytes:
    received = b""
    while further := client.recv(65_536):
        received += further
    return received


def said(answer: bytes) -> Any:
    return json.loads(answer.rpartition(b"\r\n\r\n")[2])


def test_a_body_comes_whole_however_it_is_sent(client: socket.socket) -> None:
    client.sendall(
        b"POST /a%20b HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc"
    )
    client.sendall(b"\r\n2\r\nde\r\n0\r\n\r\n")
    answer = all_of(client)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\ndate: " in answer.lower()
    assert said(answer) == {"method": "POST", "path": "/a b", "body": "abcde"}


def test_who_speaks_an_older_http_is_left_at_the_end(client: socket.socket) -> None:
    client.sendall(b"POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nab")
    assert said(all_of(client))["body"] == "ab"


def test_a_client_that_expects_to_be_told_to_go_on_is(client: socket.socket) -> None:
    client.sendall(
        b"POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    )
    assert client.recv(65_536).startswith(b"HTTP/1.1 100 ")
    client.sendall(b"ab")
    assert said(all_of(client))["body"] == "ab"


def test_head_is_answered_without_a_body(client: socket.socket) -> None:
    client.sendall(b"HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    head, _, body = all_of(client).partition(b"\r\n\r\n")
    assert b"content-length: " in head
    assert body == b""


def test_requests_that_come_at_once_are_answered_in_their_order(client: socket.socket, echo: Echo) -> None:
    asked = b"".join(b"GET /%d HTTP/1.1\r\nHost: h\r\n\r\n" % number for number in range(50))
    client.sendall(asked + b"GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    assert all_of(client).count(b"HTTP/1.1 200 OK") == 51
    assert [scope["path"] for scope in echo.scopes] == [*(f"/{number}" for number in range(50)), "/last"]


def test_the_application_is_told_who_asks_and_what(client: socket.socket, echo: Echo) -> None:
    client.sendall(b"GET /a%2Fb?c=d HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: close\r\n\r\n")
    all_of(client)
    (scope,) = echo.scopes
    assert (scope["scheme"], scope["path"], scope["raw_path"], scope["query_string"]) == (
        *("http", "/a/b", b"/a%2Fb", b"c=d"),
    )
    assert scope["client"] == client.getsockname()
    assert scope["server"] == client.getpeername()
    assert (b"x-forwarded-for", b"192.0.2.1") in scope["headers"]


def test_an_application_that_fails_ends_its_own_connection_alone(echo: Echo) -> None:
    with running(echo) as (_, address):
        for path, begins in (
            (b"/fail", b"HTTP/1.1 503 "),
            (b"/fail/late", b"HTTP/1.1 200 OK"),
            (b"/", b"HTTP/1.1 200"),
        ):
            with socket.create_connection(address, 30.0) as client:
                client.sendall(b"GET %s HTTP/1.1\r\nHost: h\r\n\r\n" % path)
                answer = client.recv(65_536) if path == b"/" else all_of(client)
                assert answer.startswith(begins)


def test_answers_come_in_one_piece(client: socket.socket) -> None:
    client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    assert b"{" in client.recv(65_536)


def test_too_long_a_head_is_refused(client: socket.socket) -> None:
    client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"a" * 70_000)
    assert client.recv(65_536).startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_the_end_waits_for_what_is_in_work_and_for_nothing_else(echo: Echo) -> None:
    with running(echo) as (server, address), ExitStack() as opened:
        silent, asking = (opened.enter_context(socket.create_connection(address, 30.0)) for _ in range(2))
        asking.sendall(b"GET /wait HTTP/1.1\r\nHost: h\r\n\r\n")
        assert echo.entered.wait(30.0)
        server.end()
        threading.Timer(0.2, echo.may_answer.set).start()
        answer = all_of(asking)
        assert answer.startswith(b"HTTP/1.1 200 OK")
        assert b"connection: close" in answer
        assert silent.recv(1) == b""
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(address, 30.0).close()


class Crowded(socket.socket):
    """A socket of a process that has no descriptor left for the first who come."""

    refusals = 2

    def accept(self) -> tuple[socket.socket, Any]:
        if self.refusals:
            self.refusals -= 1
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


def test_who_finds_no_descriptor_left_is_served_once_there_is_one(echo: Echo) -> None:
    listener = Crowded()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    with running(echo, listener) as (_, address), socket.create_connection(address, 30.0) as client:
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert said(all_of(client))["path"] == "/"
    assert not listener.refusals


SERVES = """
import socket, sys, asyncio
from poolpilot.serve.service.connections.asgi_server import AsgiServer
from poolpilot.serve.service.connections.http_connection import ConnectionLimits
async def app(scope, receive, send):
    print("asked", flush=True)
    await asyncio.sleep(3600.0)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
try:
    AsgiServer(app, ConnectionLimits(4, 30.0, 30.0, 30.0, 3600.0)).run(listener)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_second_signal_waits_for_nobody() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVES], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        with socket.create_connection(("127.0.0.1", int(process.stdout.readline())), 30.0) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert process.stdout.readline() == "asked\n"
            process.send_signal(signal.SIGTERM)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.5)
            process.send_signal(signal.SIGTERM)
            assert process.communicate(timeout=30.0)[0] == "interrupted\n"
    assert process.returncode == 0
