"""`poolpilot search` from its settings to what it prints and writes."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from rich.console import Console

from poolpilot.env.targets.backends import Backend, BackendChoice
from poolpilot.env.targets.mariadb import mariadb_target
from poolpilot.env.targets.restoring import restoring
from poolpilot.env.targets.target import TuningTarget
from poolpilot.featurizer.errors import SettingError
from poolpilot.pipelines.commands import write_json
from poolpilot.pipelines.searching.plan import SearchPlan, plan_of
from poolpilot.pipelines.searching.search_outcome import (
    as_dict,
    measured_ranking,
    outcome_table,
    ranking_table,
    verdict,
)
from poolpilot.pipelines.searching.search_run import SearchRun
from poolpilot.pipelines.searching.search_screen import SearchScreen
from poolpilot.pipelines.searching.settings import SearchRunSettings


def search(settings: SearchRunSettings, console: Console, json_path: Path | None) -> SearchRun | None:
    """Searches and shows what was found; None after a dry run.

    Raises:
        SettingError: A setting, a knob or a file is wrong.
        StoreError: The store of the stored workloads is empty or broken.
        ServerError: The server cannot be reached, or is gone.
    """
    settings.check()
    if json_path is not None and not json_path.absolute().parent.is_dir():
        raise SettingError(f"cannot write {json_path}: there is no such folder")
    with opened(settings) as target:
        for warning in target.warnings:
            console.print(f"[bold]Warning:[/bold] {warning}", soft_wrap=True)
        plan = plan_of(settings, target)
        for name, reason in plan.left_out.items():
            console.print(f"{name} is not varied: {reason}.", soft_wrap=True)
        if settings.dsn is not None and not settings.execute:
            console.print(plan.dry_run(target), soft_wrap=True)
            return None
        return conduct(plan, target, console, json_path)


def opened(settings: SearchRunSettings) -> AbstractContextManager[TuningTarget]:
    """The server to search on, for the duration of a block.

    Raises:
        SettingError: An option is wrong.
        ServerError: The server cannot be started or reached.
    """
    if settings.dsn is not None:
        return mariadb_target(settings.dsn, settings.defaults_file, settings.procedure)
    backend = settings.backend or Backend.NATIVE
    choice = BackendChoice(backend, settings.family, settings.seed, settings.workload, settings.curve, settings.noise)
    return choice.opened()


def conduct(plan: SearchPlan, target: TuningTarget, console: Console, json_path: Path | None) -> SearchRun:
    """Searches, brings the first tuple back unless it is to keep what was found, and says what is in force.

    Raises:
        ServerError: The server is gone, or somebody else has set a tuple, which is left alone.
    """
    console.print(f"Searching {plan.searched} ({plan.ends}).", soft_wrap=True)
    screen = SearchScreen(f"Search on {target.name}", console, target.goodput)
    run = SearchRun(target, plan, plan.controller(target), screen)
    with reported(run, console, json_path), restoring(target.server, keep=plan.settings.keep):
        run.search()
    console.print(f"In force now: {target.server.tuple_in_force()}.")
    return run


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
        if measured_ranking(run):
            console.print(ranking_table(run))
        console.print(verdict(run), soft_wrap=True)
        write_json(json_path, as_dict(run))
