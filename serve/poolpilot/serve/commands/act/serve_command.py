"""`poolpilot serve`: the prediction service under uvicorn, on loopback."""

from collections.abc import Callable
from pathlib import Path

from poolpilot.serve.commands.options.settings_command import as_command
from poolpilot.serve.service.service_settings import ServeSettings

HELP = (
    "Answer POST /v1/predict with the configuration to set, on loopback only.\n\n"
    "The model is the one for the kind of server that the windows come from (their server_kind); windows without a "
    "kind count as windows of the embedded pool. A file that a command has written with --json is a body as it stands; "
    'where it is too large, its key "request" is enough.'
)
PANELS = {
    "Limits": (
        *("body_limit_bytes", "header_timeout_s", "body_timeout_s", "keep_alive_s"),
        *("concurrency_limit", "connection_limit"),
    )
}
"""The groups of the help."""


def build() -> Callable[..., None]:
    """The command `poolpilot serve`."""
    return as_command(ServeSettings, serve, HELP, panels=PANELS, writes=False)


def serve(settings: ServeSettings, _: Path | None = None) -> None:
    """Serves until it is interrupted.

    Raises:
        ArtefactError: A model is missing or damaged.
        ServerError: The address cannot be bound, or the process may not have enough descriptors.
    """
    import logging
    import sys

    import structlog
    import typer

    from poolpilot.serve.service.application import create_app
    from poolpilot.serve.service.http_server import check_descriptors, descriptors_needed, http_server, listening_socket
    from poolpilot.serve.service.predictor_by_kind import PredictorByKind

    structlog.configure(
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    application = create_app(PredictorByKind.load(settings.model), settings)
    check_descriptors(descriptors_needed(settings))
    with listening_socket(settings.host, settings.port) as listener:
        address, bound_port = listener.getsockname()[:2]
        shown = f"[{address}]" if ":" in address else address
        typer.echo(f"POST http://{shown}:{bound_port}/v1/predict (Ctrl-C ends)")
        http_server(application, settings).run(sockets=[listener])
