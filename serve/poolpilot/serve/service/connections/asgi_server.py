"""Accepts connections: where there are too many the longest idle one gives way, and those in work have time to end."""

import asyncio
import signal
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

from starlette.types import ASGIApp

from poolpilot.serve.service.connections.http_connection import ConnectionLimits, HttpConnection
from poolpilot.serve.service.refusals.problem import Problem

AGAIN_AFTER_S = 0.1
"""Time after which one accepts again who has no descriptor left."""


class AsgiServer:
    """Serves an application on one socket.

    Args:
        app: The application.
        limits: What clients may ask of it.
        refused: Is told of what never reached the application.

    Attributes:
        tls: Certificate, and authorities of clients, for whoever connects from now on; None speaks no TLS.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: ConnectionLimits,
        tls: ssl.SSLContext | None = None,
        refused: Callable[[Problem], None] = lambda _: None,
    ) -> None:
        self.tls = tls
        self._app, self._limits, self._refused = app, limits, refused
        self._open: dict[HttpConnection, asyncio.Task[None]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending = asyncio.Event()
        self._ended_from_outside = False

    def run(self, listener: socket.socket, on_hangup: Callable[[], None] | None = None) -> None:
        """Serves until `end`, or until a signal comes, which is heard in the main thread alone.

        Args:
            listener: Where clients connect; it is closed afterwards.
            on_hangup: What SIGHUP asks for, in a thread of its own.

        Raises:
            KeyboardInterrupt: SIGINT or SIGTERM came.
        """
        if asyncio.run(self._run(listener, on_hangup)):
            raise KeyboardInterrupt

    def end(self) -> None:
        """Has it end, from whatever thread."""
        self._ended_from_outside = True
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._ending.set)

    async def _run(self, listener: socket.socket, on_hangup: Callable[[], None] | None) -> bool:
        """Serves; whether a signal has ended it."""
        self._loop = loop = asyncio.get_running_loop()
        interrupted = False

        def interrupt() -> None:
            nonlocal interrupted
            if interrupted:  # who asks twice waits for nobody
                self._let_go(self._open)
            interrupted = True
            self._ending.set()

        heard: dict[int, Callable[[], object]] = {signal.SIGINT: interrupt, signal.SIGTERM: interrupt}
        if on_hangup is not None:
            heard[signal.SIGHUP] = partial(loop.run_in_executor, None, on_hangup)
        if self._ended_from_outside:
            self._ending.set()
        with _signals(loop, heard):
            listener.setblocking(False)
            self._listen(listener)
            await self._ending.wait()
            loop.remove_reader(listener)
            listener.close()
            await self._end_all()
        return interrupted

    def _accept(self, listener: socket.socket) -> None:
        """Takes one client in; the next turn of the event loop takes the next one, however many there are."""
        loop = asyncio.get_running_loop()
        try:
            client, _ = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):  # it has gone again
            return
        except OSError:  # too few descriptors
            loop.remove_reader(listener)
            loop.call_later(AGAIN_AFTER_S, self._listen, listener)
            return
        client.setblocking(False)
        connection = HttpConnection(self._app, self._limits, self._refused)
        self._open[connection] = task = loop.create_task(self._serve(connection, client))
        task.add_done_callback(partial(self._left, connection, client))
        if len(self._open) > self._limits.most:
            self._let_go([self._of_least_use()])

    def _listen(self, listener: socket.socket) -> None:
        if not self._ending.is_set():
            asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    async def _serve(self, connection: HttpConnection, client: socket.socket) -> None:
        handshake_s = None if self.tls is None else self._limits.header_s
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection.wire, client, ssl=self.tls, ssl_handshake_timeout=handshake_s
            )
            await connection.answer_all()
        except OSError:  # of a handshake: nobody has asked anything
            return
        finally:
            connection.wire.abort()

    def _left(self, connection: HttpConnection, client: socket.socket, _: asyncio.Task[None]) -> None:
        self._open.pop(connection, None)
        client.close()

    def _of_least_use(self) -> HttpConnection:
        """One that is closing, else the longest idle one: the newest where all others are being answered."""
        idle = [one for one in self._open if one.idle_since_s is not None]
        return min(idle, key=lambda one: (not one.wire.closing, one.idle_since_s))

    def _let_go(self, connections: Iterable[HttpConnection]) -> None:
        """Ends connections at once; they count no more."""
        for one in list(connections):
            self._open.pop(one).cancel()

    async def _end_all(self) -> None:
        """Ends idle connections, and the others once they are answered or their time is over."""
        for one in self._open:
            one.last = True
        self._let_go(one for one in self._open if one.idle_since_s is not None and not one.wire.closing)
        if self._open:
            await asyncio.wait(self._open.values(), timeout=self._limits.grace_s)
        self._let_go(self._open)


@contextmanager
def _signals(loop: asyncio.AbstractEventLoop, heard: Mapping[int, Callable[[], object]]) -> Iterator[None]:
    """Handles signals, as far as this thread may, and leaves the handlers that were there before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in heard}
    for number, handle in heard.items():
        loop.add_signal_handler(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
