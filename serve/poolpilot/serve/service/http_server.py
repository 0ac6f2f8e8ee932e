"""uvicorn on a socket of loopback, with the limits of the service."""

import errno
import resource
import socket

import uvicorn
from fastapi import FastAPI

from poolpilot.errors import ServerError
from poolpilot.serve.service.connection import connection_class
from poolpilot.serve.service.service_settings import ServeSettings

DESCRIPTORS_BESIDE_CONNECTIONS = 64
"""Files, pipes and sockets the process needs whatever its connections."""

BACKLOG = 128
"""Connections that may be accepted at once before the first of them is counted."""


def descriptors_needed(settings: ServeSettings) -> int:
    """Descriptors that a service with these settings may come to need."""
    return settings.connection_limit + BACKLOG + DESCRIPTORS_BESIDE_CONNECTIONS


def http_server(application: FastAPI, settings: ServeSettings) -> uvicorn.Server:
    """The server of an application, not yet running."""
    return uvicorn.Server(
        uvicorn.Config(
            application,
            http=connection_class(settings),
            ws="none",
            log_config=None,  # uvicorn would close the handlers of whoever embeds it
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            backlog=BACKLOG,
            timeout_keep_alive=settings.keep_alive_s,
        )
    )


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
