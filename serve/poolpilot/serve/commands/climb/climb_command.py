"""`poolpilot climb`: a climb on a MariaDB server, the embedded pool, its simulation or a curve; cold or warm."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from poolpilot.agent.controllers.warm_start import MARIADB_WARM_START
from poolpilot.env.output import terminal, write_json
from poolpilot.env.tuning.backends import Backend
from poolpilot.errors import FeatureError, ServerError, SettingError
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.observations.floor_limits import forbidden_by_floors
from poolpilot.pipelines.logged_run import LoggedRun, logged_run
from poolpilot.serve.commands.climb.climb_knobs import check_curve, dry_run
from poolpilot.serve.commands.climb.climb_run import ClimbRun, climb_run
from poolpilot.serve.commands.climb.climb_run_settings import ClimbRunSettings
from poolpilot.serve.commands.observe.predict_command import prediction_table
from poolpilot.serve.commands.presentation.setting_lines import SettingLines, lines_to_keep
from poolpilot.serve.commands.tuning.conduct import conduct
from poolpilot.serve.commands.tuning.outcome import outcome_table


def climb(settings: ClimbRunSettings, json_path: Path | None) -> None:
    """Climbs and shows what came of it; without leave it only says what it would do.

    Raises:
        KeyboardInterrupt: The user ended it; what was measured is shown all the same.
        SettingError: A setting, a knob or a file is wrong.
        ArtefactError: The model of a warm climb is missing or damaged, or is for another kind of server.
        ServerError: The server cannot be reached, or is gone.
    """
    console = terminal()
    settings.check()
    settings.native()
    if settings.choice.backend is Backend.CURVE:
        check_curve(settings.knobs)
    predictor = verified_predictor(settings) if settings.warm else None
    trials = MARIADB_WARM_START.decisions if settings.warm else 0
    with logged_run("climb", settings, settings.tracking) as logged:
        conduct(
            settings,
            "climb",
            lambda target: dry_run(target.server, settings.knobs, settings.seconds, trials),
            lambda target: climb_run(settings, target, predictor, console),
            partial(report, console=console, json_path=json_path, logged=logged),
            console,
        )


def report(run: ClimbRun, console: Console, json_path: Path | None, logged: LoggedRun) -> None:
    """Writes and prints what was measured, and keeps it to be logged.

    Raises:
        SettingError: The file cannot be written.
        ServerError: There was no workload.
    """
    lines = _lines(run)
    logged.result = {**run.as_dict(), **lines.as_dict()}
    logged.numbers = {row["when"]: row for row in run.outcome()}
    try:
        write_json(json_path, logged.result)  # first: a terminal that is gone ends a command where it prints
    finally:
        _print(run, console)
        lines.print(console)
    if run.steps and not run.interrupted and all(step.measured.window.is_idle for step in run.steps):
        raise ServerError(
            f"no client sent anything to {run.target.name} within {run.settings.seconds:g} s: there is no workload to "
            "climb under; climb again while it is under load"
        )


def _print(run: ClimbRun, console: Console) -> None:
    if run.predictions and run.predictions[-1].abstained:
        console.print(prediction_table(run.predictions[-1]))
    elif run.predictions:
        console.print(trials_table(run))
        for sentence in said_of_all(run.predictions):
            console.print(f"{sentence}.", soft_wrap=True)
        if (forbidden := forbidden_by_floors(run.tried, run.objective)) is not None:
            console.print(f"{forbidden}.", soft_wrap=True)
    console.print(outcome_table("Climb", run.outcome(), run.target.goodput))
    if run.left is not None:
        console.print(f"The climb ended on {run.left}.")
    if (period_s := run.load_period_s) is not None:
        console.print(
            f"The load repeats itself about every {period_s:.3g} s, and windows of {run.period_s:g} s show parts of "
            f"that: climb with --period {period_s:.3g}, so that each holds a whole cycle.",
            soft_wrap=True,
        )


def trials_table(run: ClimbRun) -> Table:
    """What a warm start has tried, and what came of it."""
    table = Table("configuration", run.target.goodput, "why", title="Trials", title_justify="left")
    reasons = ["in force before", *(next(iter(each.reasons), "predicted") for each in run.predictions)]
    for window, reason in zip(run.tried, reasons, strict=False):
        table.add_row(f"{window.pool_tuple}", f"{run.target.objective.goodput_per_s(window):.0f}", reason)
    table.caption = "The best of them is what the climb went on from."
    table.caption_justify = "left"
    return table


def said_of_all(predictions: Sequence[Prediction]) -> list[str]:
    """What every prediction says beside its main reason, and so holds for the trials as a whole."""
    return [reason for reason in predictions[0].reasons[1:] if all(reason in one.reasons for one in predictions)]


def _lines(run: ClimbRun) -> SettingLines:
    """What sets the tuple that a climb has ended on and keeps it, where that was better than the first."""
    rows, reached = run.outcome(), run.left
    if run.before is None or reached is None or not run.finished or len(rows) < 2:
        return SettingLines()
    if rows[1]["goodput_per_s"] <= rows[0]["goodput_per_s"]:
        return SettingLines()
    return lines_to_keep(run.target, run.before.window.pool_tuple, reached, kept=run.settings.keep)


def verified_predictor(settings: ClimbRunSettings) -> Predictor:
    """What a warm start tries by: what it names is measured, and rolled back where it is worse.

    Raises:
        SettingError: It is to be a network, and none knows such a server.
        ArtefactError: The model is missing or damaged, or is for another kind of server.
    """
    try:
        return Advisor.load(settings.model, settings.server_kind, Purpose.WARM_START)
    except FeatureError as error:
        raise SettingError(f"--warm starts from a model's prediction: {error}") from error
