"""`poolpilot tune`: the tuner beside one server; it advises unless it is told to apply."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from pathlib import Path

from rich.console import Console

from poolpilot.agent.baselines.static import StaticPredictor
from poolpilot.env.mariadb.diagnosis.hindrances import hindrances
from poolpilot.env.output import check_folder, terminal, warn, write_json
from poolpilot.env.server import Tunable
from poolpilot.env.servers.mariadb import MariadbServer
from poolpilot.env.tuning.target import Target
from poolpilot.env.tuning.way_back import restoring
from poolpilot.errors import FeatureError
from poolpilot.models.latent.shipped import advisor_for, bandit_for
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import Predictor
from poolpilot.serve.commands.options.remote_options import REMOTE_PANEL
from poolpilot.serve.commands.options.settings_command import as_command
from poolpilot.serve.commands.tune.keeper import keep_watch
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.commands.tune.tuner_screen import TunerScreen, summary, summary_table
from poolpilot.serve.commands.tune.tuner_view import TunerView
from poolpilot.serve.remote.outcome_reporter import OutcomeReporter, Reporting
from poolpilot.serve.remote.remote_predictor import RemotePredictor
from poolpilot.serve.shadow.challenger import Challenger
from poolpilot.serve.tuner.decision_log import DecisionLog
from poolpilot.serve.tuner.known.kept_workloads import KeptWorkloads
from poolpilot.serve.tuner.machine.decision import Mode
from poolpilot.serve.tuner.machine.envelope import Envelope
from poolpilot.serve.tuner.machine.hours import Hours
from poolpilot.serve.tuner.machine.why_not import Rules
from poolpilot.serve.tuner.outside import Outside, nothing_hinders
from poolpilot.serve.tuner.tried import OnTried
from poolpilot.serve.tuner.tuner_loop import TunerLoop

HELP = (
    "Watch one server and keep its pool right: observe, advise (the default, which sets nothing) or apply.\n\n"
    "A step is at most a factor of two, is compared with what was in force window by window, and is taken back when "
    "it is worse. What was verified last comes back at the end, and after a crash by the next start or the keeper."
)
PANELS = {
    "MariaDB": ("defaults_file", "procedure", "cpus", "most_replica_lag_s", "keeper", "lease", "lease_s"),
    "A service that is asked": REMOTE_PANEL,
    "Without a DSN": ("backend", "server", "family", "seed", "workload"),
}
"""The groups of the help."""

KILL_FILE, APPROVAL_FILE = "stop", "approved"
"""Files in the folder of the decisions by which people speak to a tuner."""


def build() -> Callable[..., None]:
    """The command `poolpilot tune`."""
    return as_command(TuneSettings, tune, HELP, argument="dsn", panels=PANELS)


def tune(settings: TuneSettings, json_path: Path | None) -> None:
    """Tunes a server until it is interrupted, or for the seconds given.

    Raises:
        KeyboardInterrupt: It was ended; what came of it is shown all the same.
        SettingError: A setting is wrong.
        ArtefactError: The model or the curves are missing or damaged.
        ServerError: The server cannot be reached, or another tuner is at work on it.
        JournalError: The way back cannot be noted, so that nothing may be set.
        StoreError: The log cannot be written, or the known workloads beside it cannot be read.
    """
    console = terminal()
    settings.check()
    check_folder(json_path)
    if settings.keeper:
        return keep_watch(settings, console)
    with settings.opened() as target:
        warn(target.warnings, console)
        rules = rules_for(settings, target.server)
        folder = settings.folder(target.name)
        log = DecisionLog(folder, target.name, mode=settings.mode)
        console.print(introduction(settings, target, rules, folder), soft_wrap=True)
        screen = TunerView(console, target.name) if settings.watch else TunerScreen(console)
        try:
            with (
                _page(settings, folder, console),
                _reporting(settings, target, console) as on_tried,
                _way_back(settings, target, console),
            ):
                loop = TunerLoop(
                    target,
                    predictor_for(settings),
                    rules,
                    settings.measurement,
                    outside_of(settings, target, folder),
                    log,
                    screen.add,
                    kept=KeptWorkloads(folder),
                    on_tried=on_tried,
                    shadow=challenger_for(settings),
                )
                first = loop.memory.verified
                try:
                    with screen.shown():
                        loop.run(settings.seconds)
                finally:
                    came_of_it = summary(first, loop.memory, screen)
                    console.print(summary_table(came_of_it))
                    write_json(json_path, {**target.origin, **came_of_it})
                    if settings.at_end == "first" and rules.mode is Mode.APPLY:
                        target.way_back.commit(first)
        finally:
            log.close()


def rules_for(settings: TuneSettings, server: Tunable) -> Rules:
    """What the settings and the server allow.

    Raises:
        SettingError: They have nothing in common.
    """
    most_threads = None
    if isinstance(server, MariadbServer):
        most_threads = int(server.variables["thread_pool_max_threads"].value) - server.watch.spare_threads
    return Rules(
        mode=settings.mode,
        guard=settings.guard,
        pace=settings.pace,
        envelope=Envelope.of(settings.guard, server.knobs, most_threads),
        hours=[Hours.parse(text) for text in settings.hours],
        approval=settings.approve,
    )


def predictor_for(settings: TuneSettings) -> Predictor:
    """What proposes tuples: to who applies, one for somebody who measures what follows; else one for a single look.

    Raises:
        ArtefactError: The model or the curves are missing or damaged.
        SettingError: The model is a network, and none knows such servers; or the service's address is of no use.
    """
    if settings.proposed is not None:
        return StaticPredictor(settings.proposed)
    if (link := settings.service_link()) is not None:
        return RemotePredictor(link, settings.remote_digest)
    if settings.mode is Mode.APPLY:
        return bandit_for(settings.server_kind, settings.model)
    try:
        return advisor_for(settings.server_kind, settings.model)
    except FeatureError:  # one's own server, which no network knows
        return bandit_for(settings.server_kind, settings.model)


def challenger_for(settings: TuneSettings) -> Challenger | None:
    """What is asked beside the predictor that acts; None where nobody named it.

    Raises:
        ArtefactError: Its model or the curves are missing or damaged.
    """
    if settings.challenger is None:
        return None
    return Challenger(bandit_for(settings.server_kind, settings.challenger), load_curves())


def outside_of(settings: TuneSettings, target: Target, folder: Path) -> Outside:
    """What speaks to the tuner: files in the folder of its decisions, and what the server is doing."""
    server = target.server
    asks = nothing_hinders
    if isinstance(server, MariadbServer):
        asks = partial(_hindrances_of, server, settings.most_replica_lag_s)
    return Outside(folder / KILL_FILE, folder / APPROVAL_FILE if settings.approve else None, asks)


def introduction(settings: TuneSettings, target: Target, rules: Rules, folder: Path) -> str:
    """What the tuner may do, before it begins."""
    in_force = target.server.tuple_in_force()
    lines = [f"Tuner of {target.name}, mode {settings.mode}; {in_force} is in force. Decisions go to {folder}."]
    if rules.mode is Mode.APPLY:
        (least, most), *_ = rules.envelope.ranges
        worst = in_force.with_core((most, rules.envelope.ranges[1][1], 1)).active_threads
        limit = worst if rules.envelope.most_threads is None else min(worst, rules.envelope.most_threads)
        lines.append(
            f"It may set sizes {least}..{most}, by a factor of {rules.guard.factor:g} at a time, with {limit} threads "
            f"at worst{_stacks(target.server, limit)}. While the file {folder / KILL_FILE} is there, it sets nothing."
        )
    if settings.lease == "event":
        lines.append(f"Should this host vanish, the database brings back what is verified within {settings.lease_s} s.")
    if settings.approve:
        lines.append(f"A step waits until {folder / APPROVAL_FILE} holds it, such as (4, 3, 250).")
    return "\n".join(lines)


def _stacks(server: Tunable, threads: int) -> str:
    """Memory that the stacks of so many threads may take, where the server tells."""
    if not isinstance(server, MariadbServer) or "thread_stack" not in server.variables:
        return ""
    return f", which is {threads * int(server.variables['thread_stack'].value) / 2**20:.0f} MB of stacks"


def _hindrances_of(server: MariadbServer, most_replica_lag_s: float) -> tuple[str, ...]:
    return hindrances(server.session, most_replica_lag_s)


def _page(settings: TuneSettings, folder: Path, console: Console) -> AbstractContextManager[None]:
    """The page beside the tuner, where one is asked for; its port is bound before anything else happens.

    Raises:
        ServerError: The port cannot be had.
    """
    if settings.page is None:
        return nullcontext()
    from poolpilot.serve.page.page_server import PageServer  # nobody else pays for a web server

    server = PageServer(folder, settings.page, "--page")
    console.print(f"Decisions are shown at {server.url}.", soft_wrap=True)
    return server.running()


@contextmanager
def _reporting(settings: TuneSettings, target: Target, console: Console) -> Iterator[OnTried]:
    """Tells the service, where one is asked, what became of its predictions.

    Raises:
        SettingError: Its address, the token or a certificate is of no use.
    """
    link = settings.service_link()
    if link is None:
        yield lambda _tried: None
        return
    reporter = OutcomeReporter(link, Reporting(target.name, target.server.knobs, target.objective))
    try:
        yield reporter.report
    finally:
        reporter.close()
        said = f"Outcomes reported to {link.url}: {reporter.told}, lost {reporter.lost}."
        console.print(f"{said} {reporter.last_error}".rstrip(), soft_wrap=True)


@contextmanager
def _way_back(settings: TuneSettings, target: Target, console: Console) -> Iterator[None]:
    """Around a tuner that sets: the lock and the journal. One that sets nothing needs neither."""
    if settings.mode is not Mode.APPLY:
        yield
        return
    with restoring(target.way_back, "tune", console):
        yield
