"""How long it takes to bring a configuration back on a MariaDB, idle and saturated.

A step is set as a tuner sets one, the load runs on for a while, and the configuration of before is brought back over
the tuner's connection; the time is that from the call to the answer, with what is read back. *Every thread taken*: the
pool may make no further thread, so that a login on the normal port would hang.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np

from harness.code_digest import made_with
from harness.experiment import Experiment, Found, Rows, Task
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.lab.sysbench_families import named_workload
from poolpilot.mariadb.variables import MAX_THREADS

STEP = (4, 3, 250)
TIMES = 300
SITUATIONS = {
    "reads that wait for nothing": ("point_select-1-0", False),
    "reads beside long joins, all processors used": ("joins_beside-8-0", False),
    "the same, every thread taken": ("joins_beside-8-0", True),
}


def measured(task: Task) -> Found:
    """Median, 99th percentile and greatest of many restorations, in milliseconds."""
    workload, full = SITUATIONS[task.scenario]
    with LabServer(named_workload(workload), LabPlace(folder=Path("lab"))) as server:
        first = server.tuple_in_force()
        ms = 1000.0 * np.array([_rolled_back(server, first, full=full) for _ in range(3 if task.quick else TIMES)])
    return {
        "median_ms": float(np.median(ms)),
        "p99_ms": float(np.quantile(ms, 0.99)),
        "greatest_ms": float(ms.max()),
    }


def _rolled_back(server: LabServer, first: PoolTuple, *, full: bool) -> float:
    """Seconds of one restoration."""
    server.apply(first.with_core(STEP))
    if full:
        threads = int(server.snapshot().gauges["threads"])
        server.session.execute(f"SET GLOBAL {MAX_THREADS} = {threads}")
    server.run_for(0.05)
    begin_s = time.perf_counter()
    server.apply(first)
    took_s = time.perf_counter() - begin_s
    if full:
        server.session.execute(f"SET GLOBAL {MAX_THREADS} = DEFAULT")
    return took_s


def summarise(rows: Rows) -> dict[str, Any]:
    """A row for each situation."""
    return {"times": TIMES, "rows": [{"situation": row.task.scenario, **row.found} for row in rows]}


EXPERIMENTS = {
    "roll_back_time": Experiment(
        "How long does a roll-back take on a MariaDB? A minute.",
        scenarios=tuple(SITUATIONS),
        measure=measured,
        summarise=summarise,
        under=made_with,
    )
}
