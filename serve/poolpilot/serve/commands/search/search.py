"""`poolpilot climb --search` from its settings to what it prints and writes."""

from functools import partial
from importlib import import_module
from pathlib import Path

from rich.console import Console

from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.output import write_json
from poolpilot.env.tuning.target import Target
from poolpilot.pipelines.logged_run import LoggedRun, logged_run
from poolpilot.serve.commands.presentation.setting_lines import SettingLines, lines_to_keep
from poolpilot.serve.commands.search.plan import SearchPlan, plan_of
from poolpilot.serve.commands.search.search_outcome import (
    as_dict,
    measured_ranking,
    outcome_rows,
    ranking_table,
    search_table,
    verdict,
)
from poolpilot.serve.commands.search.search_run import JUDGED_PERIODS, SearchRun
from poolpilot.serve.commands.search.search_settings import SearchRunSettings
from poolpilot.serve.commands.tuning.conduct import conduct
from poolpilot.serve.commands.tuning.tuning_screen import TuningScreen


def search(settings: SearchRunSettings, console: Console, json_path: Path | None) -> None:
    """Searches and shows what was found; without leave it only says what it would do.

    Raises:
        KeyboardInterrupt: The user ended it; what was measured is shown all the same.
        SettingError: A setting, a knob or a file is wrong.
        StoreError: The store of the stored workloads is empty or broken.
        ServerError: The server cannot be reached, or is gone.
    """
    settings.check()
    if settings.dsn is None or settings.execute:
        import_what_runs(settings)
    with logged_run("search", settings, settings.tracking) as logged:
        conduct(
            settings,
            "search",
            lambda target: _plan(settings, target, console).dry_run(target),
            lambda target: search_run(settings, target, console),
            partial(report, console=console, json_path=json_path, logged=logged),
            console,
        )


def import_what_runs(settings: SearchRunSettings) -> None:
    """Imports what a search needs beyond its preview: where the extra is missing, that is said before any connection.

    Raises:
        ModuleNotFoundError: It is missing.
    """
    import_module("poolpilot.agent.search.knob_ranking")
    if settings.method == "bayesian":
        import_module("poolpilot.agent.search.bayesian")


def search_run(settings: SearchRunSettings, target: Target, console: Console) -> SearchRun:
    """A search that has not begun.

    Raises:
        SettingError: A knob is refused, or the stored workloads do not fit.
    """
    plan = _plan(settings, target, console)
    console.print(f"Searching {plan.searched} ({plan.ends}).", soft_wrap=True)
    controller = plan.controller(target)
    screen = TuningScreen(f"Search on {target.name}", console, target.goodput, controller)
    measurement = MeasurementSettings(window_s=JUDGED_PERIODS * settings.period_s)
    return SearchRun(
        target=target,
        controller=controller,
        screen=screen,
        period_s=settings.period_s,
        measurement=measurement,
        plan=plan,
    )


def _plan(settings: SearchRunSettings, target: Target, console: Console) -> SearchPlan:
    plan = plan_of(settings, target)
    for name, reason in plan.left_out.items():
        console.print(f"{name} is not varied: {reason}.", soft_wrap=True)
    return plan


def report(run: SearchRun, console: Console, json_path: Path | None, logged: LoggedRun) -> None:
    """Writes and prints what was measured, and keeps it to be logged.

    Raises:
        SettingError: The file cannot be written.
    """
    ranking, lines = measured_ranking(run), _lines(run)
    logged.result = {**as_dict(run, ranking), **lines.as_dict()}
    logged.numbers = {row["when"]: row for row in outcome_rows(run)}
    try:
        write_json(json_path, logged.result)  # first: a terminal that is gone ends a command where it prints
    finally:
        console.print(search_table(run))
        if ranking:
            console.print(ranking_table(run, ranking))
        console.print(verdict(run), soft_wrap=True)
        lines.print(console)


def _lines(run: SearchRun) -> SettingLines:
    """What sets the best tuple and keeps it, where it was measured again and is better than the first."""
    if run.before is None or run.best is None or not run.gain or not run.finished:
        return SettingLines()
    return lines_to_keep(run.target, run.before.window.pool_tuple, run.best, kept=run.plan.settings.keep)
