"""`poolpilot climb`: a climb on a MariaDB server or the embedded live pool, cold or warm from a prediction."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from poolpilot.agent.warm_start import MARIADB_WARM_START, WarmStart, WarmStartSettings
from poolpilot.env.backends.mariadb import MariadbServer
from poolpilot.env.backends.native import NativeServer
from poolpilot.env.climb import ClimbController, ClimbTrace, run_climb
from poolpilot.env.families import FAMILIES, draw_workload
from poolpilot.env.measurement import Measured, MeasurementSettings, measure
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.spectral import ClimbSettings, spectral_climber
from poolpilot.featurizer.errors import SettingError
from poolpilot.models.champion import Kind, load_champion
from poolpilot.models.predictor import Prediction, ProbingPredictor, ScorePredictor
from poolpilot.native_pool.workload import Workload
from poolpilot.serve.climb_screen import ClimbScreen, outcome_rows, outcome_table
from poolpilot.serve.mariadb_server import DefaultsFile, OptionalDsn, Procedure, connect, restoring, warn
from poolpilot.serve.predict_command import prediction_table, write_json

MARIADB_PERIOD_S = 0.5
"""Seconds of a sample on MariaDB, which answers a change within half a second."""


@dataclass(frozen=True, slots=True)
class ClimbOutcome:
    """A climb with what came before it.

    Attributes:
        before: The window under the first tuple.
        predictions: What the predictor said, in order; empty for a cold climb.
        trace: The climb.
    """

    before: Measured
    predictions: tuple[Prediction, ...]
    trace: ClimbTrace


def climb(
    dsn: OptionalDsn = None,
    defaults_file: DefaultsFile = None,
    procedure: Procedure = None,
    execute: Annotated[bool, typer.Option("--execute", help="Do it; without this a MariaDB server is left alone.")] = (
        False
    ),
    keep: Annotated[bool, typer.Option("--keep", help="Leave the tuple it ends on; Ctrl-C restores all the same.")] = (
        False
    ),
    family: Annotated[str, typer.Option(help="Family to draw the workload from.")] = "page_faults",
    seed: Annotated[int, typer.Option(help="Seed of that draw.")] = 1,
    workload: Annotated[
        Path | None, typer.Option(help="JSON file of a workload, instead of a family.", dir_okay=False)
    ] = None,
    warm: Annotated[bool, typer.Option("--warm/--cold", help="Start from the model's prediction.")] = False,
    model: Annotated[Path | None, typer.Option(help="Folder of a model artefact instead of the champion.")] = None,
    seconds: Annotated[float, typer.Option(min=1.0, help="Length of the climb.")] = 60.0,
    period: Annotated[float, typer.Option(min=0.01, help="Seconds from one sample to the next.")] = 0.25,
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the climb to this file.")] = None,
) -> None:
    """Climb to the best pool size of a MariaDB server in staging, or of the embedded pool; Ctrl-C restores the tuple.

    On a server whose clients do not report, the climb is judged by the mean time in the system (Little's law).
    """
    if dsn is not None:
        with connect(dsn, defaults_file, procedure) as server:
            climb_server(server, warm, model, max(seconds, 2 * MARIADB_PERIOD_S), execute, keep, json_path)
        return
    chosen = draw(family, seed) if workload is None else read_workload(workload)
    predictor = _verified_predictor(model) if warm else None
    objective = Objective.of_classes(chosen.classes)
    console = Console()
    screen = ClimbScreen(f"Climb on {chosen.name}", console)
    with NativeServer(chosen) as server:
        outcome = run(server, predictor, objective, ClimbSettings(period_s=period), seconds, screen)
    for prediction in outcome.predictions[-1:]:
        console.print(prediction_table(prediction))
    rows = outcome_rows(outcome.before, outcome.trace, objective)
    console.print(outcome_table(rows))
    if json_path is not None:
        write_json(json_path, as_dict(chosen, outcome, rows))


def climb_server(
    server: MariadbServer,
    warm: bool,
    model: Path | None,
    seconds: float,
    execute: bool,
    keep: bool,
    json_path: Path | None,
) -> None:
    """Climbs on a MariaDB server, if told to; the first tuple returns unless it is to keep the last one.

    Raises:
        ServerError: The server is gone, or somebody else has set a tuple, which is left alone.
    """
    console = Console()
    warn(server, console)
    first = server.tuple_in_force()
    if not execute:
        sizes = server.knobs.knobs["pool_size"]
        console.print(
            f"Would climb for {seconds:g} s over sizes {sizes.low:g}..{sizes.high:g} from {first}, and restore it at "
            "the end; add --execute to do it. For staging: a climb makes waves.",
            soft_wrap=True,
        )
        return
    predictor = _verified_predictor(model, "mariadb") if warm else None
    objective = Objective(signal="time_in_system")
    screen = ClimbScreen(f"Climb on {server.session.where}", console)
    with restoring(server, keep=keep):
        settings = ClimbSettings(period_s=MARIADB_PERIOD_S)
        outcome = run(server, predictor, objective, settings, seconds, screen, MARIADB_WARM_START)
    rows = outcome_rows(outcome.before, outcome.trace, objective)
    console.print(outcome_table(rows, "requests/s in system"))
    console.print(f"In force now: {server.tuple_in_force()}; the climb ended on {outcome.trace.final_tuple}.")
    if json_path is not None:
        write_json(json_path, outcome_as_dict(outcome, rows))


def run(
    server: PoolServer,
    predictor: ProbingPredictor | None,
    objective: Objective,
    settings: ClimbSettings,
    horizon_s: float,
    screen: ClimbScreen,
    looks: WarmStartSettings | None = None,
) -> ClimbOutcome:
    """Climbs on a server: warm where there is a predictor, and cold where there is none or it abstains.

    Raises:
        KeyboardInterrupt: The user ended it; the first tuple is in force again.
    """
    first = server.tuple_in_force()
    try:
        before = measure(server, first, MeasurementSettings())
        with screen.shown():
            if predictor is not None:
                warm = WarmStart(server, predictor, objective, looks or WarmStartSettings(), settings, screen.add)
                trace = warm.run(horizon_s)
                return ClimbOutcome(before, tuple(warm.predictions), trace)
            climber = spectral_climber(settings, server.knobs, first.pool_size)
            controller = ClimbController(climber, first, objective)
            trace = run_climb(server, controller, settings.period_s, horizon_s, objective, screen.add)
            return ClimbOutcome(before, (), trace)
    except KeyboardInterrupt:
        server.apply(first)
        raise


def draw(family: str, seed: int) -> Workload:
    """Draws a workload.

    Raises:
        SettingError: There is no such family.
    """
    if family not in FAMILIES:
        raise SettingError(f"there is no family {family!r}; there are {', '.join(sorted(FAMILIES))}")
    return draw_workload(FAMILIES[family], seed)


def read_workload(path: Path) -> Workload:
    """Reads a workload from JSON.

    Raises:
        SettingError: The file is missing or no workload.
    """
    try:
        return Workload.from_dict(json.loads(path.read_bytes()))
    except OSError as error:
        raise SettingError(f"cannot read {path}: {error.strerror}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise SettingError(f"{path} does not hold a workload: {error}") from error


def as_dict(workload: Workload, outcome: ClimbOutcome, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A climb on the embedded pool, fit for JSON."""
    return {"workload": workload.as_dict(), **outcome_as_dict(outcome, rows)}


def outcome_as_dict(outcome: ClimbOutcome, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A climb fit for JSON."""
    return {
        "predictions": [prediction.as_dict() for prediction in outcome.predictions],
        "outcome": rows,
        "steps": [
            {
                "end_s": step.end_s,
                "pool_tuple": step.pool_tuple.as_dict(),
                "goodput_per_s": step.goodput_per_s,
                "p99_ms": step.measured.window.p99_ms,
                "threads": step.measured.window.threads,
                "value": step.value,
            }
            for step in outcome.trace.steps
        ],
    }


def _verified_predictor(model: Path | None, kind: Kind = "native") -> ScorePredictor:
    """The model as a warm start may use it: what it sets is measured, and taken back where it is worse."""
    artefact = load_champion(model, kind)
    return ScorePredictor(artefact, artefact.card.settings.for_verified_use())
