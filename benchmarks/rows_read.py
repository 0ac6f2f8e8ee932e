"""Whether rows read tell what long statements are left where a server shows no classes: docs/results-mariadb.md.

    python benchmarks/rows_read.py [--json benchmarks/reports/rows_read.json]

Short requests beside long ones, drawn anew: each workload on one fresh server under several tuples, the default first
and last. Of every window: what the clients of the long class completed over what they did under the default, and the
same of the rows that the server says were read. Ten minutes. Results to expect: the two agree within a few per cent
wherever long statements read rows; where they compute (`digests_beside`), rows say nothing and forbid nothing.
"""

import argparse
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.env.measurement.protocol import MARIADB_RACING, measure
from poolpilot.env.objective import LONG_ROWS, ROWS, Objective
from poolpilot.env.output import terminal, write_json
from poolpilot.featurizer.window import Window
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.lab.sysbench_families import FAMILIES, draw_workload
from poolpilot.mariadb.server.watch_settings import WatchSettings
from poolpilot.pipelines.progress_bars import progress_bars

NAMES = ("scans_beside", "sorts_beside", "updates_beside", "joins_beside", "digests_beside")
CORES = ((2, 3, 500), (4, 3, 10), (8, 3, 500), (16, 3, 10), (64, 3, 500), (2, 3, 500))
LONG, CPUS = "long", 2


def main() -> None:
    """Measures every draw and writes the report."""
    given = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that its servers end with it
    workloads = [draw_workload(FAMILIES[name], given.seed, draw, CPUS) for draw in range(given.draws) for name in NAMES]
    settings = MARIADB_RACING.model_copy(update={"window_s": given.window})
    rows: list[dict[str, Any]] = []
    with progress_bars(terminal()) as bars:
        for workload in bars.each("measuring", workloads, lambda one: one.name):
            with LabServer(workload, LabPlace(folder=given.folder, watch=WatchSettings())) as server:
                in_force = server.tuple_in_force()
                windows = [measure(server, in_force.with_core(core), settings).window for core in CORES]
            rows += compared(workload, windows)
    write_json(given.json, {"rows": rows, "error": error_of(rows)})


def compared(workload: SqlWorkload, windows: list[Window]) -> Iterator[dict[str, Any]]:
    """What rows and class say of each window but the first, which is what both are over."""
    first = windows[0]
    rows_first, objective = first.without_classes(), Objective(min_share={LONG: 0.3})
    per_statement = first.indicators["rows_read_per_s"] / first.throughput_per_s
    for window in windows[1:]:
        yield {
            "workload": workload.name,
            "family": workload.family,
            "core": list(window.pool_tuple.core),
            "rows_per_statement": per_statement,
            "by_rows": objective.kept_share(ROWS, window.without_classes(), rows_first)[0],
            "by_class": objective.kept_share(LONG, window, first)[0],
            "short": window.classes["short"].throughput_per_s / first.classes["short"].throughput_per_s,
        }


def error_of(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How far rows are from the class where statements read many: median and greatest difference of the shares."""
    apart = [abs(row["by_rows"] - row["by_class"]) for row in rows if row["rows_per_statement"] >= LONG_ROWS]
    return {"windows": float(len(apart)), "median": float(np.median(apart)), "greatest": float(np.max(apart))}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/rows_read.json"))
    parser.add_argument("--folder", type=Path, default=Path("lab"), help="where the test servers lie")
    parser.add_argument("--draws", type=int, default=2, help="draws of each family")
    parser.add_argument("--seed", type=int, default=29, help="seed of the draws")
    parser.add_argument("--window", type=float, default=5.0, help="seconds of a window")
    return parser.parse_args()


if __name__ == "__main__":
    main()
