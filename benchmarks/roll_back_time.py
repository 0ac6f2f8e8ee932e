"""How long it takes to bring a configuration back on a MariaDB, idle and saturated: a table of docs/operations.md.

    python benchmarks/roll_back_time.py [--times 300] [--json benchmarks/reports/roll_back_time.json]

A private server is under each load in turn. A step is set as a tuner sets one, the load runs on for a while, and the
configuration of before is brought back over the tuner's connection; the time is that from the call to the answer, with
what is read back. *Every thread taken*: the pool may make no further thread, so that a login on the normal port would
hang. A minute. Results to expect: ten milliseconds, whatever the load, since the tuner has a connection on the extra
port.
"""

import argparse
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from code_digest import made_with
from poolpilot.env.output import terminal, write_json
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.lab.sysbench_families import named_workload
from poolpilot.mariadb.variables import MAX_THREADS
from poolpilot.pipelines.progress_bars import progress_bars

STEP = (4, 3, 250)
SITUATIONS = {
    "reads that wait for nothing": ("point_select-1-0", False),
    "reads beside long joins, all processors used": ("joins_beside-8-0", False),
    "the same, every thread taken": ("joins_beside-8-0", True),
}


def main() -> None:
    """Measures every situation, writes the report and the table."""
    given = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that its servers end with it
    rows = []
    with progress_bars(terminal()) as bars:
        for name in bars.each("rolling back", list(SITUATIONS), str):
            workload, full = SITUATIONS[name]
            seconds = rolled_back(named_workload(workload), given.folder, given.times, full=full)
            rows.append(row_of(name, seconds))
    write_json(given.json, {"made_with": made_with(), "times": given.times, "rows": rows})


def rolled_back(workload: SqlWorkload, folder: Path, times: int, *, full: bool) -> list[float]:
    """Seconds of each restoration."""
    with LabServer(workload, LabPlace(folder=folder)) as server:
        first = server.tuple_in_force()
        found = []
        for _ in range(times):
            server.apply(first.with_core(STEP))
            if full:
                _take_threads(server)
            server.run_for(0.05)
            found.append(_timed(server, first))
            if full:
                server.session.execute(f"SET GLOBAL {MAX_THREADS} = DEFAULT")
    return found


def _take_threads(server: LabServer) -> None:
    threads = int(server.snapshot().gauges["threads"])
    server.session.execute(f"SET GLOBAL {MAX_THREADS} = {threads}")


def _timed(server: LabServer, pool_tuple: PoolTuple) -> float:
    begin_s = time.perf_counter()
    server.apply(pool_tuple)
    return time.perf_counter() - begin_s


def row_of(name: str, seconds: Sequence[float]) -> dict[str, Any]:
    """Median, 99th percentile and greatest, in milliseconds."""
    ms = 1000.0 * np.asarray(seconds)
    return {
        "situation": name,
        "median_ms": float(np.median(ms)),
        "p99_ms": float(np.quantile(ms, 0.99)),
        "greatest_ms": float(ms.max()),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/roll_back_time.json"))
    parser.add_argument("--folder", type=Path, default=Path("lab"), help="where the test servers lie")
    parser.add_argument("--times", type=int, default=300, help="restorations in each situation")
    return parser.parse_args()


if __name__ == "__main__":
    main()
