"""Whether the prediction is worse than the default tuple where the two differ: the test of non-inferiority.

How to run: `python benchmarks/mariadb_default.py [--folder lab]` after `poolpilot evaluate --server mariadb --json
benchmarks/reports/mariadb.json` (two minutes a workload, nothing beside). The evaluation compares many tuples in few
short windows; here the default and the prediction have a server to themselves, in rounds of random order, each for
longer than the other's surplus threads live. Results to expect: gain, one-sided p-value of losing the margin, and
whether that is refuted by Holm's procedure over all workloads of the evaluation.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from poolpilot.env.lab.lab_server import LabPlace, LabServer
from poolpilot.env.lab.sysbench_families import named_workload
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.output import write_json
from poolpilot.pipelines.evaluate.mariadb_cell import DEFAULT, core_of
from poolpilot.pipelines.evaluate.mariadb_evaluation import PREDICTED, holm, inferiority_p_value

ROUNDS = 12
SETTLE_S = 3.0
WINDOW_S = 2.0


def gains_of(name: str, cores: dict[str, str], place: LabPlace) -> NDArray[np.float64]:
    """J under the prediction minus J under the default, of every round."""
    workload, rng = named_workload(name), np.random.default_rng(0)
    values: dict[str, list[float]] = {method: [] for method in cores}
    with LabServer(workload, place) as server:
        for _ in range(ROUNDS):
            for method in rng.permutation(list(cores)):
                server.apply(server.tuple_in_force().with_core(core_of(cores[method])))
                server.run_for(SETTLE_S)
                values[method].append(workload.objective.value(observe(server, WINDOW_S).window))
    return np.subtract(values[PREDICTED], values[DEFAULT])


def main() -> None:
    """Measures, prints and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluation", type=Path, default=Path("benchmarks/reports/mariadb.json"))
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/mariadb_default.json"))
    parser.add_argument("--folder", type=Path, default=Path("lab"))
    given = parser.parse_args()
    console = Console()
    cells = json.loads(given.evaluation.read_text())["cells"]
    chosen = {cell["workload"]: {name: cell["chosen"][name] for name in (DEFAULT, PREDICTED)} for cell in cells}
    rows: dict[str, dict[str, Any]] = {}
    p_values = dict.fromkeys(chosen, 0.0)
    for workload, cores in chosen.items():
        if cores[DEFAULT] == cores[PREDICTED]:
            continue
        console.print(f"{workload} ...")
        gains = gains_of(workload, cores, LabPlace(folder=given.folder))
        p_values[workload] = inferiority_p_value(gains)
        rows[workload] = {
            "predicted": cores[PREDICTED],
            "gain": float(gains.mean()),
            "error": float(gains.std(ddof=1) / np.sqrt(ROUNDS)),
            "p_value": p_values[workload],
        }
    refuted = holm(p_values)
    table = Table("workload", "predicted", "gain in J", "p of losing 5 %", "refuted")
    for workload, row in rows.items():
        row["refuted"] = refuted[workload]
        shown = (f"{row['gain']:+.3f} ± {row['error']:.3f}", f"{row['p_value']:.4f}", str(row["refuted"]))
        table.add_row(workload, row["predicted"], *shown)
    console.print(table)
    write_json(given.json, {"workloads": len(chosen), "rows": rows})


if __name__ == "__main__":
    main()
