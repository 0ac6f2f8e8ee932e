"""`poolpilot search` from its settings to what it prints and writes."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from rich.console import Console

from poolpilot.env.output import check_folder, warn, write_json
from poolpilot.env.tuning.backends import Backend, BackendChoice
from poolpilot.env.tuning.mariadb_target import mariadb_target
from poolpilot.env.tuning.target import TuningTarget
from poolpilot.env.tuning.way_back import restoring
from poolpilot.serve.commands.search.plan import SearchPlan, plan_of
from poolpilot.serve.commands.search.search_outcome import (
    as_dict,
    measured_ranking,
    outcome_table,
    ranking_table,
    verdict,
)
from poolpilot.serve.commands.search.search_run import SearchRun
from poolpilot.serve.commands.search.search_screen import SearchScreen
from poolpilot.serve.commands.search.search_settings import SearchRunSettings


def search(settings: SearchRunSettings, console: Console, json_path: Path | None) -> SearchRun | None:
    """Searches and shows what was found; None after a dry run.

    Raises:
        SettingError: A setting, a knob or a file is wrong.
        StoreError: The store of the stored workloads is empty or broken.
        ServerError: The server cannot be reached, or is gone.
    """
    settings.check()
    check_folder(json_path)
    with opened(settings) as target:
        warn(target.warnings, console)
        if settings.dsn is not None and not settings.execute:
            console.print(_plan(settings, target, console).dry_run(target), soft_wrap=True)
            return None
        return conduct(settings, target, console, json_path)


def opened(settings: SearchRunSettings) -> AbstractContextManager[TuningTarget]:
    """The server to search on, for the duration of a block.

    Raises:
        SettingError: An option is wrong.
        ServerError: The server cannot be started or reached.
    """
    if settings.dsn is not None:
        return mariadb_target(settings.dsn, settings.defaults_file, settings.procedure)
    backend = settings.backend or Backend.NATIVE
    of_backend = (settings.family, settings.seed, settings.workload, settings.curve, settings.noise)
    return BackendChoice(backend, *of_backend, settings.server).opened()


def conduct(settings: SearchRunSettings, target: TuningTarget, console: Console, json_path: Path | None) -> SearchRun:
    """Searches, brings the first tuple back unless it is to keep what was found, and says what is in force.

    Raises:
        SettingError: A knob is refused, or the stored workloads do not fit.
        ServerError: The server is gone, or somebody else has set a tuple, which is left alone.
    """
    with restoring(target.way_back, "search", console, keep=settings.keep):
        plan = _plan(settings, target, console)
        console.print(f"Searching {plan.searched} ({plan.ends}).", soft_wrap=True)
        screen = SearchScreen(f"Search on {target.name}", console, target.goodput)
        run = SearchRun(target, plan, plan.controller(target), screen)
        with reported(run, console, json_path):
            run.search()
    return run


def _plan(settings: SearchRunSettings, target: TuningTarget, console: Console) -> SearchPlan:
    plan = plan_of(settings, target)
    for name, reason in plan.left_out.items():
        console.print(f"{name} is not varied: {reason}.", soft_wrap=True)
    return plan


@contextmanager
def reported(run: SearchRun, console: Console, json_path: Path | None) -> Iterator[None]:
    """Prints and writes what was measured in the block, however that ends.

    Raises:
        SettingError: The file cannot be written.
    """
    try:
        yield
    finally:
        console.print(outcome_table(run))
        ranking = measured_ranking(run)
        if ranking:
            console.print(ranking_table(run, ranking))
        console.print(verdict(run), soft_wrap=True)
        write_json(json_path, as_dict(run, ranking))
