"""`poolpilot serve`: the prediction service under uvicorn, on loopback."""

import errno
import logging
import resource
import socket
import sys
from pathlib import Path
from typing import Annotated

import structlog
import typer
import uvicorn
from fastapi import FastAPI

from poolpilot.errors import ServerError
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.connection import connection_class
from poolpilot.serve.service.predictor_by_kind import PredictorByKind
from poolpilot.serve.service.service_settings import ServeSettings

DESCRIPTORS_BESIDE_CONNECTIONS = 64
"""Files, pipes and sockets the process needs whatever its connections."""

BACKLOG = 128
"""Connections that may be accepted at once before the first of them is counted."""


def serve(
    host: Annotated[str | None, typer.Option(help="Loopback address to listen on (default 127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(help="TCP port; 0 takes a free one (default 8750).")] = None,
    model: Annotated[
        Path | None, typer.Option(help="Folder of a model artefact, in place of the champion for its kind of server.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="TOML file of settings; flags and environment win.")] = None,
) -> None:
    """Answer POST /v1/predict with the tuple to set, on loopback only.

    The model is the one for the kind of server that the windows come from (their server_kind); windows without a kind
    count as windows of the embedded pool. A file that a command has written with --json is a body as it stands; where
    it is too large, its key "request" is enough.
    """
    settings = ServeSettings.load(config, {"host": host, "port": port, "model": model})
    structlog.configure(
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    application = create_app(PredictorByKind.load(settings.model), settings)
    check_descriptors(settings.connection_limit + BACKLOG + DESCRIPTORS_BESIDE_CONNECTIONS)
    with listening_socket(settings.host, settings.port) as listener:
        address, bound_port = listener.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        typer.echo(f"POST http://{shown}:{bound_port}/v1/predict (Ctrl-C ends)")
        http_server(application, settings).run(sockets=[listener])


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
