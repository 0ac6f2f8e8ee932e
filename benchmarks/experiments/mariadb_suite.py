"""The MariaDB suite: what was written down beforehand, measured (docs/results-suite.md).

Seven to eight minutes a workload on a quiet machine, more where a load repeats itself slowly (`shifting`: half an
hour). The sweeps are kept as a record store, on which `live_rivals` replays every method once they lie in
`benchmarks/records`.
"""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from harness.experiment import Experiment, Found, Rows, Task
from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import Measured, MeasurementSettings
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.lab.lab_server import LabPlace
from poolpilot.mariadb.server.watch_settings import LONG_WATCH
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.collect.workload_record import keep_sweep, shared_context, workload_row
from poolpilot.pipelines.evaluate.live.judging.paired_windows import PairedSettings
from poolpilot.pipelines.evaluate.live.live_evaluate import networks
from poolpilot.pipelines.evaluate.live.live_methods import OpenMethod, methods_on
from poolpilot.pipelines.evaluate.live.live_run import LiveRunSettings
from poolpilot.pipelines.evaluate.live.method_settings import MariadbPace, MethodSettings
from poolpilot.pipelines.evaluate.live.whole_cycles import methods_in_cycles
from poolpilot.pipelines.store.records import StagingStore
from suite.judged_cell import judged_cell
from suite.objectives import OBJECTIVES, ObjectiveName
from suite.suite_cells import DRAWS, SUITE, SUITE_SEED, SuiteCell, suite_cells
from suite.suite_run import CellResult, SuiteRunSettings, run_suite_cell, whole_cycles

QUICK = MeasurementSettings(
    settle_s=0.1,
    max_settle_s=0.2,
    window_s=0.2,
    window_ticks=0.0,
    keep_shares=(0.5,),
    final_repeats=0,
    oracle_repeats=1,
)
FURTHER = ("warm_start", "portfolio_3")
"""Methods beside the advice and the constants."""

RECORDS, QUICK_RECORDS = Path("build/bench/suite_records"), Path("build/bench/suite_records.quick")
READ = ("first", "second", "third")
"""What a reading is called, by its draw."""


@cache
def cells() -> Mapping[str, SuiteCell]:
    """All workloads, by name."""
    return {cell.workload.name: cell for cell in suite_cells(SUITE_SEED, DRAWS)}


def measured(task: Task, objective: ObjectiveName) -> Found:
    """All choices on one workload."""
    cell, settings = cells()[task.scenario], settings_of(objective, quick=task.quick)
    adviser = Advisor(Model.load(None, "mariadb"), server_view=True)
    methods = further(settings, cell.workload.cycle_s)
    keep = partial(_keep_sweep, cell, settings, QUICK_RECORDS if task.quick else RECORDS)
    return run_suite_cell(cell, adviser, methods, settings, lambda _: None, keep).as_dict()


def settings_of(objective: ObjectiveName, *, quick: bool) -> SuiteRunSettings:
    """How a workload is measured; quickly it shows that everything runs, and its figures mean nothing."""
    common: dict[str, Any] = {"place": LabPlace(folder=Path("lab"), watch=LONG_WATCH), "objective": objective}
    if not quick:
        return SuiteRunSettings(**common)
    paired = PairedSettings(measurement=QUICK, least_rounds=2, most_rounds=2)
    grid = MachineGrid(sizes=(1, 16), multiples=(), oversubscribes=(3,))
    live = LiveRunSettings(grid=grid, sweep=QUICK, warm_up_s=0.2, period_s=0.2, paired=paired)
    pace = MariadbPace(measurement=QUICK, period_s=0.2, budget_s=1.0)
    return SuiteRunSettings(**common, look_s=0.5, live=live, pace=pace)


def further(settings: SuiteRunSettings, cycle_s: float) -> Mapping[str, OpenMethod]:
    """The further methods, paced as `poolpilot climb` on MariaDB, in whole cycles of a load that repeats itself."""
    in_cycles = methods_in_cycles(MethodSettings(names=FURTHER).on_mariadb(settings.pace), cycle_s)
    budget_s = whole_cycles(settings, cycle_s).live.budget_s
    return methods_on(load_curves(), networks(None), in_cycles, budget_s).opened


def _keep_sweep(
    cell: SuiteCell, settings: SuiteRunSettings, folder: Path, limits: KnobSpace, swept: Sequence[Measured]
) -> None:
    """Keeps the windows of a sweep as records, so that methods can be replayed on them."""
    workload, collecting = cell.workload, CollectSettings(server="mariadb")
    counts = OBJECTIVES[settings.objective](workload)
    planned = PlannedWorkload(SUITE[workload.family].split, workload)
    row = workload_row(planned, limits, counts, DEFAULT_GRID)
    context = shared_context(planned, collecting.machine, collecting.server, f"suite-{workload.name}")
    keep_sweep(StagingStore(folder / settings.objective), row, context, counts, swept)


def summarise(rows: Rows, objective: ObjectiveName) -> dict[str, Any]:
    """Every workload with what each method chose."""
    judged = [judged_cell(cells()[row.task.scenario], CellResult.from_dict(row.found)) for row in rows]
    read = [{"read": READ[int(cell["workload"].rpartition("-")[2])], **cell} for cell in judged]
    return {"objective": objective, "cells": read}


def _counting(objective: ObjectiveName) -> Experiment:
    return Experiment(
        f"Is advice right on a real MariaDB, where {objective} counts? Ten hours.",
        scenarios=lambda: list(cells()),
        measure=partial(measured, objective=objective),
        summarise=partial(summarise, objective=objective),
    )


EXPERIMENTS = {
    "mariadb_suite": _counting("short"),
    "mariadb_suite_throughput": _counting("throughput"),
    "mariadb_suite_p99": _counting("p99"),
}
