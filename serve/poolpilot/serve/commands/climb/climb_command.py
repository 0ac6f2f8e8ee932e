"""`poolpilot climb`: a climb on a MariaDB server, the embedded pool, its simulation or a curve; cold or warm."""

from functools import partial
from pathlib import Path

from rich.console import Console

from poolpilot.agent.controllers.warm_start import MARIADB_WARM_START, WarmStartSettings
from poolpilot.env.output import check_folder, terminal, warn, write_json
from poolpilot.env.tuning.backends import Backend, BackendChoice, check_one_server
from poolpilot.env.tuning.mariadb_target import mariadb_target
from poolpilot.errors import FeatureError, SettingError
from poolpilot.featurizer.snapshot import ServerKind, server_kind_of
from poolpilot.models.champion import load_for
from poolpilot.models.predictor import ScorePredictor
from poolpilot.serve.commands.climb.climb_knobs import check_curve, chosen_knobs, dry_run
from poolpilot.serve.commands.climb.climb_options import (
    Assignments,
    BackendOption,
    CurveFile,
    Execute,
    Family,
    JsonPath,
    Keep,
    Knobs,
    ListSettings,
    Model,
    Noise,
    OwnServer,
    Period,
    Seconds,
    Seed,
    SettingsFile,
    Warm,
    WorkloadFile,
)
from poolpilot.serve.commands.climb.climb_run import ClimbRun, climb_controller
from poolpilot.serve.commands.climb.climb_settings import SettingSources, flags_of
from poolpilot.serve.commands.climb.settings_table import setting_rows, settings_table
from poolpilot.serve.commands.look.predict_command import prediction_table
from poolpilot.serve.commands.options.mariadb_options import DefaultsFile, OptionalDsn, Procedure
from poolpilot.serve.commands.presentation.setting_lines import SettingLines, lines_to_keep
from poolpilot.serve.commands.tuning.conduct import conduct
from poolpilot.serve.commands.tuning.outcome import outcome_table
from poolpilot.serve.commands.tuning.tuning_screen import TuningScreen

PERIOD_S = 0.25
"""Seconds of a sample on an embedded pool."""

MARIADB_PERIOD_S = 0.5
"""Seconds of a sample on MariaDB, which answers a change within half a second."""


def climb(
    dsn: OptionalDsn = None,
    defaults_file: DefaultsFile = None,
    procedure: Procedure = None,
    execute: Execute = False,
    backend: BackendOption = None,
    server: OwnServer = None,
    family: Family = "page_faults",
    seed: Seed = 1,
    workload: WorkloadFile = None,
    curve: CurveFile = None,
    noise: Noise = 0.0,
    named_knobs: Knobs = None,
    warm: Warm = False,
    model: Model = None,
    seconds: Seconds = 60.0,
    period: Period = None,
    assignments: Assignments = None,
    settings_file: SettingsFile = None,
    list_settings: ListSettings = False,
    keep: Keep = False,
    json_path: JsonPath = None,
) -> None:
    """Climb to the best pool size of a MariaDB server in staging, or of an embedded pool, and show every decision.

    With --knob it climbs other knobs too, all of them at once.

    The first tuple returns at the end and after Ctrl-C, unless --keep; what was measured is printed all the same.

    On a server whose clients do not report, the climb is evaluated by the mean time in the system (Little's law).
    """
    console = terminal()
    flags = flags_of(assignments or (), period)
    sources = SettingSources(PERIOD_S if dsn is None else MARIADB_PERIOD_S, settings_file, flags)
    if list_settings:
        return show_settings(sources, console, json_path)
    settings = sources.load()
    choice = BackendChoice(backend or Backend.NATIVE, family, seed, workload, curve, noise, server)
    check_one_server(dsn, backend, server)
    predictor = verified_predictor(model, kind_of(choice) if dsn is None else "mariadb") if warm else None
    knobs = chosen_knobs(named_knobs or ())
    if choice.backend is Backend.CURVE:
        check_curve(knobs)
    check_folder(json_path)
    with choice.opened() if dsn is None else mariadb_target(dsn, defaults_file, procedure) as target:
        warn(target.warnings, console)
        if dsn is not None and not execute:
            console.print(dry_run(target.server, knobs, seconds), soft_wrap=True)
            return
        looks = WarmStartSettings() if dsn is None else MARIADB_WARM_START

        def open_run() -> ClimbRun:
            controller = climb_controller(target, settings, knobs, predictor, looks)
            screen = TuningScreen(f"Climb on {target.name}", console, target.goodput, controller)
            period_s = settings.hcm_period
            return ClimbRun(
                target, controller, screen, period_s, seconds, settings=settings, sources=sources, knobs=knobs
            )

        shown = partial(report, console=console, json_path=json_path, keep=keep)
        conduct(target, "climb", open_run, shown, console, keep=keep)


def report(run: ClimbRun, console: Console, json_path: Path | None, *, keep: bool = False) -> None:
    """Prints and writes what was measured.

    Raises:
        SettingError: The file cannot be written.
    """
    for prediction in run.predictions[-1:]:
        console.print(prediction_table(prediction))
    console.print(outcome_table("Climb", run.outcome(), run.target.goodput))
    if run.steps:
        console.print(f"The climb ended on {run.steps[-1].pool_tuple}.")
    lines = _lines(run, keep=keep)
    lines.print(console)
    write_json(json_path, {**run.as_dict(), **lines.as_dict()})


def _lines(run: ClimbRun, *, keep: bool) -> SettingLines:
    """What sets the tuple that a climb has ended on and keeps it, where that was better than the first."""
    rows = run.outcome()
    if run.before is None or run.interrupted or len(rows) < 2 or rows[1]["goodput_per_s"] <= rows[0]["goodput_per_s"]:
        return SettingLines()
    return lines_to_keep(run.target, run.before.window.pool_tuple, run.steps[-1].pool_tuple, kept=keep)


def show_settings(sources: SettingSources, console: Console, json_path: Path | None) -> None:
    """Prints the settings of the climber.

    Raises:
        SettingError: The file cannot be written.
    """
    rows = setting_rows(sources.model)
    console.print(settings_table(rows))
    write_json(json_path, {"settings": rows})


def kind_of(choice: BackendChoice) -> ServerKind:
    """Which kind of server a backend is: what its windows will say of themselves, known before it is opened."""
    return "other" if choice.server is not None else server_kind_of(choice.backend)


def verified_predictor(model: Path | None, server_kind: ServerKind) -> ScorePredictor:
    """The model as a warm start may use it: what it sets is measured, and taken back where it is worse.

    Raises:
        SettingError: No model knows such a server.
        ArtefactError: The model is missing or damaged, or is for another kind of server.
    """
    try:
        artefact = load_for(server_kind, model)
    except FeatureError as error:
        raise SettingError(f"--warm starts from a model's prediction: {error}") from error
    return ScorePredictor(artefact, artefact.card.settings.relaxed_for_trials())
