"""Where a thread per connection beats the pool: the rule that `poolpilot advise` goes by, measured.

How to run: `python benchmarks/mariadb_handling.py`. Each pair is two freshly started servers in random order, one with
the pool at its default tuple and one with a thread per connection, under cached reads in a closed loop. Results to
expect: the ratio of their throughputs (a thread per connection over the pool) falls as connections rise.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from poolpilot.env.output import write_json
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.lab.sql_workload import SqlClass, SqlWorkload
from poolpilot.lab.sysbench_load import SqlLoad

CONNECTIONS = (4, 8, 16, 64, 256)
PAIRS = 4
RUN_UP_S = 1.0
WINDOW_S = 3.0
HANDLING = {"pool": (), "threads": ("--thread-handling=one-thread-per-connection",)}


def throughput_per_s(folder: Path, handling: str, connections: int) -> float:
    """Requests a second on a freshly started server."""
    workload = SqlWorkload("handling", "benchmark", (SqlClass("ranges", "ranges", connections),))
    with Lab(folder, LabSettings(), HANDLING[handling]) as lab, SqlLoad(workload, lab.load_file, lab.dataset) as load:
        time.sleep(RUN_UP_S)
        before = load.histograms()["ranges"].count
        time.sleep(WINDOW_S)
        return (load.histograms()["ranges"].count - before) / WINDOW_S


def main() -> None:
    """Measures, prints and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/mariadb_handling.json"))
    parser.add_argument("--folder", type=Path, default=Path("lab/small"))
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    rows = []
    for connections in CONNECTIONS:
        logs = []
        for _ in range(PAIRS):
            order = rng.permutation(list(HANDLING))
            rates = {str(name): throughput_per_s(given.folder, str(name), connections) for name in order}
            logs.append(np.log(rates["threads"] / rates["pool"]))
        error = float(np.std(logs, ddof=1) / np.sqrt(PAIRS))
        rows.append({"connections": connections, "ratio": float(np.exp(np.mean(logs))), "error": error})
    table = Table("connections", "threads over pool", "standard error", title="A thread per connection over the pool")
    for row in rows:
        table.add_row(str(row["connections"]), f"{row['ratio']:.2f}", f"{100 * row['error']:.0f} %")
    Console().print(table)
    write_json(given.json, rows)


if __name__ == "__main__":
    main()
