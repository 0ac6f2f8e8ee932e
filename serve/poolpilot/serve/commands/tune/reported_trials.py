"""Who is told what became of trials: the service that is asked, a folder on this host, or nobody."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console

from poolpilot.env.tuning.target import Target
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.remote.outcome_reporter import OutcomeReporter, Receiver, Reporting
from poolpilot.serve.service.service_settings import SEGMENT_BYTES
from poolpilot.serve.tuner.tried import OnTried


@contextmanager
def reported_trials(settings: TuneSettings, target: Target, console: Console) -> Iterator[OnTried]:
    """Tells them for the duration of the block, and says at its end how many they have taken.

    Raises:
        SettingError: The address of the service, its token or a certificate is of no use.
        StoreError: The folder cannot be written, or another process writes to it.
    """
    with ExitStack() as opened:
        receiver, where = _receiver(settings, opened)
        if receiver is None:
            yield lambda _tried: None
            return
        reporter = OutcomeReporter(receiver, Reporting(target.own_name, target.server.knobs, target.objective))
        try:
            yield reporter.report
        finally:
            reporter.close()
            unanswered = ", one unanswered" if reporter.unanswered else ""
            said = f"Outcomes {where}: {reporter.told}, lost {reporter.lost}{unanswered}."
            console.print(f"{said} {reporter.last_error}".rstrip(), soft_wrap=True)


def _receiver(settings: TuneSettings, opened: ExitStack) -> tuple[Receiver | None, str]:
    """What reports are given to, and where they are then, in words; nothing where nobody is told."""
    if (link := settings.service_link()) is not None:
        return link, f"reported to {link.url}"
    if settings.outcomes is None:
        return None, ""
    from poolpilot.serve.remote.outcome_folder import OutcomeFolder  # nobody else pays for the service's own log
    from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog

    log = opened.enter_context(OutcomeLog(settings.outcomes, SEGMENT_BYTES))
    return OutcomeFolder(log), f"kept in {settings.outcomes}"
