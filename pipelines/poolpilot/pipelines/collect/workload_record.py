"""What a store keeps of a workload: its definition, what its windows share, and a sweep that somebody else measured."""

import json
from collections.abc import Sequence
from typing import Any

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import Measured
from poolpilot.env.objective import Objective
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.featurizer.record import RecordContext
from poolpilot.pipelines.collect.workload_run import RecordSink
from poolpilot.pipelines.store.records import StagingStore


def workload_row(
    planned: PlannedWorkload[Any], limits: KnobSpace, objective: Objective, grid: ActionGrid
) -> dict[str, Any]:
    """The row of `WORKLOAD_SCHEMA` that defines a workload."""
    return {
        "workload_id": planned.workload.name,
        "family": planned.workload.family,
        "split": planned.split,
        "workload": _as_json(planned.workload.as_dict()),
        "limits": _as_json(limits.as_dict()),
        # What stands for the clients' reports is of no concern where there are some.
        "objective": _as_json(objective.model_dump(exclude={"signal"})),
        "ladder": _as_json(grid.as_dict()),
    }


def shared_context(planned: PlannedWorkload[Any], machine: str, server: str, run_id: str) -> RecordContext:
    """What all windows of a sweep share; what differs is replaced window by window."""
    return RecordContext(
        workload_id=planned.workload.name,
        family=planned.workload.family,
        split=planned.split,
        machine=machine,
        server=server,
        workload_seed=planned.workload.seed,
        run_id=run_id,
        kind="sweep",
        round=0,
        propensity=1.0,
        time_unix_s=0.0,
        steal_share=None,
        settle_s=0.0,
    )


def keep_sweep(
    store: StagingStore, row: dict[str, Any], context: RecordContext, objective: Objective, swept: Sequence[Measured]
) -> None:
    """Writes a finished sweep, its workload last; nothing where the store holds the workload already.

    Args:
        store: Where to.
        row: The workload's definition.
        context: What its windows share.
        objective: What they are evaluated by.
        swept: All windows of the sweep.

    Raises:
        StoreError: The store cannot be read or written.
    """
    if context.workload_id in store.workload_rows():
        return
    sink = RecordSink(store.windows, objective, context, lambda: None, float("inf"))
    for measured in swept:
        sink.add(measured, round=measured.round)
    sink.flush()
    store.workloads.append([row], context.run_id)


def _as_json(value: object) -> str:
    return json.dumps(value, sort_keys=True)
