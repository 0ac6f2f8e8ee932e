"""Hypercorn with our limits, on a socket of ours: what clients may ask of its patience, signals, and how it ends."""

import asyncio
import errno
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypercorn.asyncio import serve
from hypercorn.config import Config
from starlette.applications import Starlette
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from poolpilot.errors import ServerError
from poolpilot.serve.service.renewed_tls import tls_of
from poolpilot.serve.service.service_settings import ServeSettings


@dataclass(frozen=True)
class Patience:
    """Times that clients have.

    Attributes:
        header_s: For a handshake of TLS, and for the headers of a request from the end of the one before on.
        grace_s: For requests in work once the server is to end.
    """

    header_s: float
    grace_s: float


class HttpServer:
    """Serves an application on one socket.

    Args:
        application: The application.
        patience: Times that clients have.
        tls: What is shown in handshakes; None speaks no TLS.

    Attributes:
        tls: The same.
    """

    def __init__(self, application: Starlette, patience: Patience, tls: ssl.SSLContext | None = None) -> None:
        self._application, self._patience, self.tls = application, patience, tls
        self._ended = threading.Event()
        self._interrupted = False

    def run(self, listener: socket.socket, on_hangup: Callable[[], None] | None = None) -> None:
        """Serves until `end`, or until a signal comes, which is heard in the main thread alone.

        Args:
            listener: Where clients connect; it is closed afterwards.
            on_hangup: What SIGHUP asks for, in a thread of its own.

        Raises:
            KeyboardInterrupt: SIGINT or SIGTERM came.
        """
        with suppress(asyncio.CancelledError):  # it was interrupted twice
            asyncio.run(self._run(listener, on_hangup))
        if self._interrupted:
            raise KeyboardInterrupt

    def end(self) -> None:
        """Has it end, from whatever thread."""
        self._ended.set()

    async def _run(self, listener: socket.socket, on_hangup: Callable[[], None] | None) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda *_: None)  # why a client's connection ended is no news
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, self._interrupt, asyncio.current_task())
            if on_hangup is not None:
                loop.add_signal_handler(signal.SIGHUP, loop.run_in_executor, None, on_hangup)
        config = _config(self._patience, self.tls, listener.detach())
        try:
            application: Any = _EndsWithItsClient(self._application)
            ends = loop.run_in_executor(None, self._ended.wait)  # before anybody can take the descriptors it needs
            await serve(application, config, shutdown_trigger=lambda: ends, mode="asgi")
        except BaseExceptionGroup:
            if not self._ended.is_set():  # else somebody's connection broke while it was waited for
                raise
        finally:
            self._ended.set()

    def _interrupt(self, serving: asyncio.Task[Any] | None) -> None:
        if self._interrupted and serving is not None:  # who asks twice waits for nobody
            serving.cancel()
        self._interrupted = True
        self._ended.set()


def _refuse(_: Config) -> int:
    raise ConnectionRefusedError("the service speaks HTTP/1.1 alone")


class _HttpAlone(Config):
    """Hypercorn's, with a context of TLS that is made already, and without other protocols.

    Hypercorn ends no client that begins HTTP/2 or a WebSocket and says no more: who does so is refused at the first
    look at their settings.
    """

    tls: ssl.SSLContext | None = None
    h2_max_inbound_frame_size = property(_refuse)
    websocket_max_message_size = property(_refuse)

    @property
    @override
    def ssl_enabled(self) -> bool:
        return self.tls is not None

    @override
    def create_ssl_context(self) -> ssl.SSLContext | None:
        return self.tls


def _config(patience: Patience, tls: ssl.SSLContext | None, descriptor: int) -> Config:
    config = _HttpAlone()
    config.tls, config.bind = tls, f"fd://{descriptor}"
    config.keep_alive_timeout = config.ssl_handshake_timeout = patience.header_s
    config.graceful_timeout, config.keep_alive_max_requests = patience.grace_s, sys.maxsize
    config.max_app_queue_size = 0  # a full one would keep the connection of a client whose body nobody wants
    config.include_server_header, config.errorlog = False, None
    return config


class _Gone(BaseException):
    """A connection has ended under an answer."""


class _EndsWithItsClient:
    """Has Hypercorn forget a connection that the kernel has ended under an answer.

    It would keep for ever what the client asked next; what is no `Exception` ends all that it does for that client.
    """

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            try:
                await send(message)
            except OSError as error:
                raise _Gone from error

        await self._application(scope, receive, sent)


def http_server(application: Starlette, settings: ServeSettings) -> HttpServer:
    """The server of an application, not yet running; what the application loads again, it shows to new clients.

    Raises:
        ServerError: A file of TLS is missing or of no use.
    """
    grace_s = settings.body_timeout_s + settings.read_timeout_s
    if (tls := tls_of(settings)) is not None:
        application.state.renewal.also(partial(tls.show, settings))
    return HttpServer(application, Patience(settings.header_timeout_s, grace_s), tls)


def listening_socket(host: str, port: int, option: str = "choose --port", *, read_s: float = 10.0) -> socket.socket:
    """Binds before the server starts, so that a port in use is one sentence.

    Args:
        host: The address.
        port: The port; 0 is any that is free.
        option: The remedy where it is in use.
        read_s: Time that clients may leave answers unread before the kernel ends their connections.

    Raises:
        ServerError: The address cannot be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ServerError(f"port {port} on {host} is in use: end what listens there or {option}") from error
        raise ServerError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    # Connections inherit both; without the second what follows in an answer waits for a delayed acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(read_s * 1000))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
