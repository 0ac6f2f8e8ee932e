"""Records as calibration takes them: what was sent and what was measured, and the same rebuilt from one window each."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from poolpilot.env.workloads.family import Split
from poolpilot.env.workloads.observed_workload import observed_workload
from poolpilot.errors import PoolPilotError, StoreError
from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.calibrate.simulator_validation import MeasuredStage, MeasuredWorkload
from poolpilot.pipelines.store.dataset import Row, checked_window, limits_of, objective_of, read_swept_rows


def read_measured(directory: Path, splits: Sequence[Split], most_steal: float = 1.0) -> list[MeasuredWorkload]:
    """The completely swept workloads of a store, with their definitions and their windows in order.

    Args:
        directory: Folder of the store.
        splits: Splits that are read.
        most_steal: Windows of which the hypervisor took a larger share do not count; without two tuples that count a
            workload is left out.

    Raises:
        StoreError: There is none, or the records are of MariaDB.
    """
    swept = read_swept_rows(directory, *splits)
    if any(row["server"] == "mariadb" for rows in swept.windows.values() for row in rows):
        raise StoreError(
            f"the store {directory} cannot be simulated: records of MariaDB hold no step programs to simulate; name a "
            "store of the embedded pool"
        )
    found = [_measured(swept.definitions[name], rows, most_steal) for name, rows in swept.windows.items()]
    kept = [one for one in found if len({stage.core for stage in one.stages if stage.counts}) > 1]
    if not kept:
        raise StoreError(
            f"the store {directory} holds no complete workload of the splits {', '.join(splits)} of which the "
            f"hypervisor took at most {most_steal:.0%}; raise most_steal, or measure on a quieter machine"
        )
    return kept


def _measured(definition: Row, rows: Sequence[Row], most_steal: float) -> MeasuredWorkload:
    return MeasuredWorkload(
        Workload.from_dict(json.loads(definition["workload"])),
        limits_of(definition),
        objective_of(definition),
        [
            MeasuredStage(checked_window(row), row["settle_s"], (row["steal_share"] or 0.0) <= most_steal)
            for row in rows
        ],
    )


def rebuilt(measured: Sequence[MeasuredWorkload], machine_for: Callable[[Workload], Machine]) -> list[MeasuredWorkload]:
    """The same records, but their workloads as they look from one window under the default tuple.

    Where the default was not measured it is a window under another tuple. A workload that cannot be rebuilt is left
    out: of these windows none counts and has completions, or a feature is missing.

    Args:
        measured: The records.
        machine_for: The machine a workload is simulated on.

    Raises:
        KeyboardInterrupt: The user ended it.
    """
    seen = [(one, _as_seen(one, machine_for(one.workload))) for one in measured]
    return [
        replace(one, workload=replace(workload, name=one.workload.name, seed=one.workload.seed))
        for one, workload in seen
        if workload is not None
    ]


def _as_seen(one: MeasuredWorkload, machine: Machine) -> Workload | None:
    default = one.limits.default_tuple().core
    stages = [stage for stage in one.stages if stage.core == default] or one.stages
    telling = (stage.window for stage in stages if stage.counts and stage.window.throughput_per_s > 0.0)
    window = next(telling, None)
    if window is None:
        return None
    try:
        return observed_workload(window, one.limits, one.objective, machine)
    except PoolPilotError:
        return None
