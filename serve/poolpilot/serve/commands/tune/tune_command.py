"""`poolpilot tune`: the tuner beside one server; it advises unless it is told to apply."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from functools import partial
from pathlib import Path

from rich.console import Console

from poolpilot.env.output import introduce, terminal, warn, write_json
from poolpilot.env.tuning.restoration import restoring
from poolpilot.env.tuning.target import Target
from poolpilot.serve.commands.tune.decisions_folder import decisions_folder
from poolpilot.serve.commands.tune.followed_model import followed_model
from poolpilot.serve.commands.tune.introduction import introduction
from poolpilot.serve.commands.tune.keeper import keep_watch
from poolpilot.serve.commands.tune.reported_trials import reported_trials
from poolpilot.serve.commands.tune.tune_settings import TuneSettings
from poolpilot.serve.commands.tune.tuner_parts import (
    blind_spots,
    caution_for,
    challenger_for,
    check_proposed,
    outside_of,
    rules_for,
)
from poolpilot.serve.commands.tune.tuner_screen import TunerScreen, summary, summary_table
from poolpilot.serve.commands.tune.tuner_view import TunerView
from poolpilot.serve.tuner.decision_log import DecisionLog
from poolpilot.serve.tuner.known.kept_workloads import KeptWorkloads
from poolpilot.serve.tuner.machine.decision import Mode
from poolpilot.serve.tuner.tuner_loop import TunerLoop


def tune(settings: TuneSettings, json_path: Path | None) -> None:
    """Tunes a server until it is interrupted, or for the seconds given.

    Raises:
        KeyboardInterrupt: It was ended; what came of it is shown all the same.
        SettingError: A setting is wrong.
        ArtefactError: The model or the curves are missing or damaged.
        ServerError: The server cannot be reached, or another tuner is at work on it.
        JournalError: The journal cannot be written, so that nothing may be set.
        StoreError: Log or outcomes cannot be written, or what is kept beside the log cannot be read.
    """
    console = terminal()
    settings.check()
    if settings.keeper:
        return keep_watch(settings, console)
    settings.check_named()
    with settings.opened() as target, ExitStack() as restoration:
        introduce(target.reached, target.warnings, console)
        # What a tuner that was killed has left comes back before anything that this one may lack ends it.
        restoration.enter_context(_way_back(settings, target, console))
        check_proposed(settings, target.server)
        warn(blind_spots(target.server), console)
        rules = rules_for(settings, target.server)
        folder = decisions_folder(settings, target)
        log = DecisionLog(folder, target.name)
        console.print(introduction(settings, target, rules, folder), soft_wrap=True)
        screen = TunerView(console, target.name) if settings.watch else TunerScreen(console)
        with (
            closing(log),
            _page(settings, folder, console),
            reported_trials(settings, target, console) as on_tried,
            followed_model(settings, console) as predictor,
            restoration.pop_all(),  # at the end it is gone first, whatever the others still have to tell
        ):
            loop = TunerLoop(
                target,
                predictor,
                rules,
                settings.measurement,
                outside_of(settings, target, folder),
                log,
                screen.add,
                kept=KeptWorkloads(folder),
                on_tried=on_tried,
                shadow=challenger_for(settings),
                rules_anew=partial(rules_for, settings, target.server),
                wary=caution_for(settings, target, folder),
            )
            _run(loop, settings, screen, console, json_path)


def _run(
    loop: TunerLoop, settings: TuneSettings, screen: TunerScreen, console: Console, json_path: Path | None
) -> None:
    """Tunes, and shows what came of it however that ends."""
    first, target = loop.memory.incumbent, loop.target
    try:
        with screen.shown():
            loop.run(settings.seconds)
    finally:
        if settings.at_end == "initial" and settings.mode is Mode.APPLY:
            # Of a person who has set the pool since, or of a restart, it is what they have left.
            target.restoration.return_to(loop.memory.initial)
        came_of_it = summary(first, loop.memory, screen, found_by_person=loop.found_by_person)
        console.print(summary_table(came_of_it))
        write_json(json_path, {**target.origin, **came_of_it})


def _page(settings: TuneSettings, folder: Path, console: Console) -> AbstractContextManager[None]:
    """The page beside the tuner, where one is asked for; its port is bound before anything is set.

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
def _way_back(settings: TuneSettings, target: Target, console: Console) -> Iterator[None]:
    """Around a tuner that sets: the lock and the journal. One that sets nothing needs neither."""
    if settings.mode is not Mode.APPLY:
        yield
        return
    with restoring(target.restoration, "tune", console):
        yield
