"""`poolpilot serve`: the prediction service."""

from contextlib import ExitStack
from pathlib import Path

from poolpilot.models.advisor.advisor import Advisor
from poolpilot.serve.service.service_settings import ServeSettings


def serve(settings: ServeSettings, _: Path | None = None) -> None:
    """Serves until it is interrupted.

    Raises:
        KeyboardInterrupt: It is.
        ArtefactError: A model is missing or damaged.
        SettingError: The file of tokens is refused.
        StoreError: The folder of outcomes cannot be written, or somebody else writes to it.
        ServerError: The address cannot be bound, or a file of TLS is of no use.
    """
    import logging
    import signal
    import sys
    import threading

    import structlog

    if threading.current_thread() is threading.main_thread():
        # What it asks for happens anyway: all is loaded from here on. The server has a handler of its own later.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    logging.getLogger("asyncio").setLevel(logging.ERROR)  # else who leaves has a line for each answer not taken along
    structlog.configure(
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )
    with ExitStack() as opened:
        run(settings, opened)


def run(settings: ServeSettings, opened: ExitStack) -> None:
    """Loads, binds and serves; what is to be closed afterwards is left in `opened`."""
    import gc

    import typer

    from poolpilot.serve.service.application import create_app
    from poolpilot.serve.service.http_server import http_server, listening_socket
    from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
    from poolpilot.serve.service.watch.model_watch import ModelWatch

    outcomes = None
    if settings.outcomes is not None:
        outcomes = opened.enter_context(OutcomeLog(settings.outcomes, settings.outcome_segment_bytes))
    watch = ModelWatch(settings.model, settings.follow_every_s)
    application = create_app(Advisor.load(settings.model), settings, outcomes=outcomes)
    server = http_server(application, settings)
    gc.freeze()  # the models stay: no collection need look at them
    bound = listening_socket(settings.host, settings.port, read_s=settings.read_timeout_s)
    listener = opened.enter_context(bound)
    address, bound_port = listener.getsockname()[:2]
    shown = f"[{address}]" if ":" in address else address
    scheme = "http" if settings.tls_certificate is None else "https"
    opened.callback(watch.end)
    watch.begin(application.state.renewal.quietly)
    typer.echo(f"POST {scheme}://{shown}:{bound_port}/v1/predict (Ctrl-C ends)")
    server.run(listener, application.state.renewal.quietly)
