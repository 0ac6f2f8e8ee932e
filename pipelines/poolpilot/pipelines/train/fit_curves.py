"""Response curves of simulated and recorded workloads: what a latent bandit knows, for machines of any size.

Every scenario is drawn with its own machine and number of processors and simulated under every configuration of the
grid, each from a fresh pool. Nothing is fitted: the curves are the model.
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.console import Console

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, measure_all
from poolpilot.env.workloads.composition import composition
from poolpilot.env.workloads.light_families import LIGHT_EVERY, LIGHT_FAMILIES
from poolpilot.env.workloads.simulated_families import COMPOSED, SIMULATED_FAMILIES, draw_scenario
from poolpilot.errors import ServerError
from poolpilot.models.card import program
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.ratios import ratios_of
from poolpilot.models.latent.response_curves import DIGITS, ResponseCurve, ResponseCurves, rounded
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import progress_bars
from poolpilot.pipelines.store.older_timer import OlderTimer


class FitCurvesSettings(ProgramSettings):
    """Settings of `poolpilot learn curves`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_CURVES_")

    output: Path = Field(default=Path("curves.json.xz"), description="File that the response curves are written to.")
    workloads: int = Field(default=25, ge=1, description="Workloads drawn of each simulated family.")
    composed: int = Field(default=1500, ge=1, description="Workloads drawn of the family that composes at random.")
    requests: int = Field(default=8_000, ge=100, description="Requests answered under each configuration.")
    grid: MachineGrid = Field(default=MachineGrid(), description="The configurations.")
    stores: tuple[Path, ...] = Field(
        default=(), description="Record stores whose training workloads are taken in beside the simulated ones."
    )
    older_timer: OlderTimer = False
    runs: Path | None = Field(
        default=None, description="File of finished workloads, so that a stopped run goes on; none keeps nothing."
    )
    threads: int | None = Field(default=None, ge=1, description="Threads; as many as there are processors if none.")
    seed: int = Field(default=0, ge=0, description="Seed of the workloads.")


def fit_curves(settings: FitCurvesSettings, console: Console) -> ResponseCurves:
    """Simulates the workloads; what is finished is kept where `runs` names a file.

    Raises:
        KeyboardInterrupt: The user ended it.
        ServerError: No workload could be simulated.
        StoreError: A record store is missing or damaged.
    """
    scenarios = drawn_scenarios(settings)
    finished = {row["name"]: row for row in read_runs(settings.runs) if row.get("drawn") == _drawn_by(settings)}
    with opened_for_more(settings.runs) as out, progress_bars(console) as bars:
        for scenario in bars.each("simulating", scenarios, lambda scenario: scenario.workload.name):
            if scenario.workload.name in finished:
                continue
            curve = curve_of(scenario, settings)
            if curve is not None:
                row = {"drawn": _drawn_by(settings), **curve.model_dump()}
                keep_run(row, out)
                finished[scenario.workload.name] = row
    if not finished:
        raise ServerError("no workload could be simulated; give a larger number by --set workloads=N")
    wanted = [scenario.workload.name for scenario in scenarios]
    light = sum(scenario.workload.family in LIGHT_FAMILIES for scenario in scenarios)
    source = (
        f"simulated: {settings.workloads} workloads of each of {len(SIMULATED_FAMILIES) - 1} families, "
        f"{settings.composed} composed at random and {light} under light and half load, seed {settings.seed}"
    )
    recorded = _recorded(settings)
    curves = (*_curves(finished[name] for name in wanted if name in finished), *recorded)
    if recorded:
        source = f"{source}; recorded: {len(recorded)} workloads of training families"
    return ResponseCurves(grid=settings.grid, source=source, curves=curves)


def _recorded(settings: FitCurvesSettings) -> list[ResponseCurve]:
    if not settings.stores:
        return []
    # Records are read with pyarrow, which the base installation lacks.
    from poolpilot.pipelines.store.recorded_curves import recorded_curves

    return recorded_curves(settings.stores, settings.grid, older_timer=settings.older_timer)


def drawn_scenarios(settings: FitCurvesSettings) -> list[Scenario]:
    """The scenarios, family by family; every third is under light or half load."""
    full = {name: settings.composed if name == COMPOSED else settings.workloads for name in SIMULATED_FAMILIES}
    of_each = max(round(sum(full.values()) / (LIGHT_EVERY - 1) / len(LIGHT_FAMILIES)), 1)
    families = {**SIMULATED_FAMILIES, **LIGHT_FAMILIES}
    return [
        draw_scenario(families[name], settings.seed, number)
        for name, drawn in {**full, **dict.fromkeys(LIGHT_FAMILIES, of_each)}.items()
        for number in range(drawn)
    ]


def curve_of(scenario: Scenario, settings: FitCurvesSettings) -> ResponseCurve | None:
    """The response curve of one scenario; None where its pool cannot be simulated under every configuration."""
    workload, objective = scenario.workload, scenario.objective
    columns = settings.grid.columns_on(KnobSpace.stock(workload.cpus, scenario.max_pool_size))
    tuples = list(dict.fromkeys(columns))
    measurement = SimulatedMeasurement(requests=settings.requests)
    try:
        measured = measure_all([scenario.open() for _ in tuples], tuples, measurement, settings.threads)
    except ServerError:
        return None
    windows = dict(zip(tuples, measured, strict=True))
    worth = {one: objective.value(windows[one]) + objective.price_of_thread * math.log(one.pool_size) for one in tuples}
    return ResponseCurve(
        name=workload.name,
        family=workload.family,
        cpus=workload.cpus,
        connections=workload.connections,
        composition=composition(workload.classes),
        log_worth=tuple(round(worth[pool_tuple], DIGITS) for pool_tuple in columns),
        ratios=tuple(
            rounded(ratios_of(windows[columns[place]].profile.features)) for place in settings.grid.reference_columns
        ),
        light=workload.family in LIGHT_FAMILIES,
    )


def _drawn_by(settings: FitCurvesSettings) -> dict[str, Any]:
    """What a finished workload must have been simulated with to be taken up again."""
    grid = settings.grid.model_dump(mode="json")
    return {"by": program(), "seed": settings.seed, "requests": settings.requests, "grid": grid}


def _curves(rows: Iterable[dict[str, Any]]) -> list[ResponseCurve]:
    return [
        ResponseCurve.model_validate({name: value for name, value in row.items() if name != "drawn"}) for row in rows
    ]
