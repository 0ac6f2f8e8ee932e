"""A service that is broken in whatever way a test wants: it answers with bytes."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from poolpilot.featurizer.window import Window


class RawServer:
    """Answers every connection with the bytes it was told to, after reading what was sent."""

    def __init__(self, answer: bytes, drip_s: float | None = None, at_once: int = 0) -> None:
        self._answer, self._drip_s, self._at_once = answer, drip_s, at_once
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._ending = threading.Event()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ending.is_set():
            with suppress(OSError):
                connection, _ = self._listener.accept()
                with connection:
                    connection.settimeout(10.0)
                    self._hear(connection)
                    self._speak(connection)

    @staticmethod
    def _hear(connection: socket.socket) -> None:
        """Reads the whole request: a connection that is closed before is reset, and with it what was answered."""
        head, _, body = connection.recv(1 << 20).partition(b"\r\n\r\n")
        lengths = [
            int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
        ]
        while len(body) < sum(lengths):
            further = connection.recv(1 << 20)
            if not further:
                return
            body += further

    def _speak(self, connection: socket.socket) -> None:
        if self._drip_s is None:
            connection.sendall(self._answer)
            return
        connection.sendall(self._answer[: self._at_once])
        for place in range(self._at_once, len(self._answer)):
            if self._ending.wait(self._drip_s):
                return
            connection.sendall(self._answer[place : place + 1])

    def close(self) -> None:
        self._ending.set()
        with suppress(OSError):
            socket.create_connection(self._listener.getsockname(), 1.0).close()
        self._listener.close()
        self._thread.join(10.0)


Raw = Callable[..., RawServer]
"""Starts one, which ends with the test."""


def good_answer(window: Window) -> dict[str, Any]:
    """What a service would say: sixteen groups."""
    return {
        "schema_version": window.schema_version,
        "abstained": False,
        "reasons": ["requests wait"],
        "model_digest": "ab" * 32,
        "expected_gain": 0.3,
        "gain_low": 0.2,
        "gain_high": 0.4,
        "expires_s": 300.0,
        "pool_tuple": {**window.pool_tuple.as_dict(), "pool_size": 16},
        "in_force": window.pool_tuple.as_dict(),
    }


def http_answer(body: bytes, status: str = "200 OK", kind: str = "application/json") -> bytes:
    """An answer with a body, after which the connection is closed."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body
