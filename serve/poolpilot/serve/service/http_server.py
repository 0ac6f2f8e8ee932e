"""The HTTP server with the limits of the settings: its socket, its files of TLS, and the descriptors that it needs."""

import errno
import resource
import socket
import ssl

from starlette.applications import Starlette

from poolpilot.errors import ServerError
from poolpilot.serve.service.connections.asgi_server import AsgiServer
from poolpilot.serve.service.connections.http_connection import ConnectionLimits
from poolpilot.serve.service.service_settings import ServeSettings

BESIDE_CONNECTIONS = 64
"""Files, pipes and sockets that a service needs whatever its connections."""


def http_server(application: Starlette, settings: ServeSettings) -> AsgiServer:
    """The server of an application, not yet running; what the application loads again, it shows to new clients.

    Raises:
        ServerError: A file of TLS is missing or of no use.
    """
    limits = ConnectionLimits(
        most=settings.connection_limit,
        header_s=settings.header_timeout_s,
        read_s=settings.read_timeout_s,
        keep_alive_s=settings.keep_alive_s,
        grace_s=settings.body_timeout_s + settings.read_timeout_s,
    )
    server = AsgiServer(application, limits, tls_of(settings), application.state.metrics.refused_outside)

    def show_certificate() -> None:
        # A context that is in use forgets no authority, nor the sessions of whom it has admitted.
        server.tls = tls_of(settings)

    application.state.renewal.also(show_certificate)
    return server


def tls_of(settings: ServeSettings) -> ssl.SSLContext | None:
    """Certificate and authorities as their files have them now; None where there are none.

    Raises:
        ServerError: A file is missing or of no use.
    """
    if settings.tls_certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    named = f"the certificate {settings.tls_certificate} with the key {settings.tls_key}"
    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key, password=_no_passphrase)
        if settings.tls_client_ca is not None:
            named = f"the authorities in {settings.tls_client_ca}"
            context.load_verify_locations(settings.tls_client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ServerError(f"cannot use {named}: {reason}; both are PEM files, a key has no passphrase") from error
    return context


def _no_passphrase() -> str:
    """Stands in for OpenSSL's question on the terminal."""
    raise ValueError("the key asks for a passphrase")


def listening_socket(host: str, port: int, option: str = "choose --port") -> socket.socket:
    """Binds before the server starts, so that a port in use is one sentence.

    Args:
        host: The address.
        port: The port; 0 is any that is free.
        option: The remedy where it is in use.

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
    # Inherited by connections: without it the second part of an answer waits for the client's delayed acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def check_descriptors(connections: int) -> None:
    """Refuses to start with fewer descriptors than the connections will take.

    Raises:
        ServerError: The limit is too low; the text says how to raise it.
    """
    allowed, needed = resource.getrlimit(resource.RLIMIT_NOFILE)[0], connections + BESIDE_CONNECTIONS
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        raise ServerError(
            f"too few descriptors: {allowed} allowed, {needed} needed; raise the limit with `ulimit -n {needed}` "
            "or lower connection_limit"
        )
