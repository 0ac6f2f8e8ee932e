"""uvicorn on one socket, with the limits of the service, TLS, and SIGHUP to load models and tokens again."""

import asyncio
import errno
import resource
import signal
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from typing_extensions import override
from uvicorn.config import create_ssl_context

from poolpilot.errors import PoolPilotError, ServerError
from poolpilot.serve.service.connections.connection import Connection, connection_class
from poolpilot.serve.service.connections.handshake import Handshake
from poolpilot.serve.service.service_settings import ServeSettings

DESCRIPTORS_BESIDE_CONNECTIONS = 64
"""Files, pipes and sockets the process needs whatever its connections."""

BACKLOG = 128
"""Connections that may be accepted at once before the first of them is counted."""


def descriptors_needed(settings: ServeSettings) -> int:
    """Descriptors that a service with these settings may come to need."""
    return settings.connection_limit + BACKLOG + DESCRIPTORS_BESIDE_CONNECTIONS


class ServiceServer(uvicorn.Server):
    """uvicorn's server; a TLS handshake has its time, and SIGHUP renews what was loaded.

    Args:
        config: As for uvicorn's.
        handshake_timeout_s: Time for which a client may keep the server waiting before the first byte of a request.
        renew: Renews; blocks, so it runs in a thread.
    """

    def __init__(self, config: uvicorn.Config, handshake_timeout_s: float, renew: Callable[[], None]) -> None:
        super().__init__(config)
        self._handshake_timeout_s = handshake_timeout_s
        self._renew = renew

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        if self.config.ssl is not None:
            loop.create_server = partial(self._over_tls, loop, loop.create_server)  # type: ignore[method-assign]
        if threading.current_thread() is threading.main_thread():
            loop.add_signal_handler(signal.SIGHUP, loop.run_in_executor, None, self._renew_quietly)
        await super().startup(sockets)

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if threading.current_thread() is threading.main_thread():
            asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)
        await super().shutdown(sockets)

    async def _over_tls(
        self,
        loop: asyncio.AbstractEventLoop,
        create_server: Callable[..., Any],
        made: Callable[[], Connection],
        *,
        ssl: ssl.SSLContext,
        **rest: Any,
    ) -> asyncio.Server:
        """`create_server` with handshakes that are counted and timed, by whatever certificate is in force then."""
        assert ssl is self.config.ssl

        def handshake() -> Handshake:
            assert self.config.ssl is not None
            return Handshake(loop, made(), self.config.ssl, self._handshake_timeout_s)

        server: asyncio.Server = await create_server(handshake, **rest)
        return server

    def _renew_quietly(self) -> None:
        with suppress(PoolPilotError):  # it is in the log, in the metrics and in GET /v1/model
            self._renew()


def http_server(application: FastAPI, settings: ServeSettings) -> ServiceServer:
    """The server of an application, not yet running.

    Raises:
        ServerError: A file of TLS is missing or of no use.
    """
    config = uvicorn.Config(
        application,
        http=connection_class(
            settings.header_timeout_s, settings.read_timeout_s, settings.connection_limit, application.state.metrics
        ),
        loop="asyncio",  # also where Ray Serve has brought another: limits and time-outs are tested on this one
        ws="none",
        log_config=None,  # uvicorn would close the handlers of whoever embeds it
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,  # else whoever asks from this host says which address it is held to a rate by
        lifespan="off",
        backlog=BACKLOG,
        timeout_keep_alive=settings.keep_alive_s,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        ssl_ca_certs=None if settings.tls_client_ca is None else str(settings.tls_client_ca),
        ssl_cert_reqs=ssl.CERT_NONE if settings.tls_client_ca is None else ssl.CERT_REQUIRED,
    )
    check_tls(settings)
    config.load()
    renewal = application.state.renewal
    renewal.also(partial(_renew_certificate, config, settings))
    return ServiceServer(config, settings.header_timeout_s, renewal.run)


def _renew_certificate(config: uvicorn.Config, settings: ServeSettings) -> None:
    """Shows new connections what the files hold now, and admits whom the authorities of now have signed.

    In a context of its own: one that is in use forgets no authority, nor the sessions of whom it has admitted.
    """
    if config.ssl is not None and settings.tls_certificate is not None:
        check_tls(settings)
        config.ssl = create_ssl_context(
            settings.tls_certificate,
            settings.tls_key,
            None,
            config.ssl_version,
            config.ssl_cert_reqs,
            config.ssl_ca_certs,
            config.ssl_ciphers,
        )


def check_tls(settings: ServeSettings) -> None:
    """Reads the files of TLS once, so that what is wrong with one is a sentence.

    Raises:
        ServerError: One is missing or of no use.
    """
    if settings.tls_certificate is None:
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    named = f"the certificate {settings.tls_certificate} with the key {settings.tls_key}"
    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key, password=_no_passphrase)
        if settings.tls_client_ca is not None:
            named = f"the authorities in {settings.tls_client_ca}"
            context.load_verify_locations(settings.tls_client_ca)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ServerError(f"cannot use {named}: {reason}; both are PEM files, a key has no passphrase") from error


def _no_passphrase() -> str:
    """Stands in for OpenSSL's question on the terminal."""
    raise ValueError("the key asks for a passphrase")


def listening_socket(host: str, port: int) -> socket.socket:
    """Binds before the server starts, so that a port in use is one sentence.

    Raises:
        ServerError: The address cannot be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ServerError(f"port {port} on {host} is in use: end what listens there or choose --port") from error
        raise ServerError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    # Inherited by connections: without it the second part of an answer waits for the client's delayed acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def check_descriptors(needed: int) -> None:
    """Refuses to start with fewer descriptors than the connections will take.

    Raises:
        ServerError: The limit is too low; the text says how to raise it.
    """
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        raise ServerError(
            f"too few descriptors: {allowed} allowed, {needed} needed; raise the limit with `ulimit -n {needed}` "
            "or lower connection_limit"
        )
