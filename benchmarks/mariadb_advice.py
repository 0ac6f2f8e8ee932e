"""Whether `poolpilot advise` says the same from several starting tuples, and again after its advice was set.

How to run: `python benchmarks/mariadb_advice.py [--folder lab]` (two minutes a workload, nothing beside). Results to
expect: one row a workload and start. Two tuples may be worth the same, so all that were advised for a workload are
compared in interleaved windows afterwards; what a row's tuples lose to the best of them is printed with its noise.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from poolpilot.env.lab.lab_server import LabPlace, LabServer
from poolpilot.env.lab.sysbench_families import named_workload
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective
from poolpilot.env.output import write_json
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.champion import load_champion
from poolpilot.models.predictor import ScorePredictor
from poolpilot.pipelines.evaluate.mariadb_cell import LiveSettings, compared

WORKLOADS = ("joins_beside-9-0", "joins_beside-9-1", "hot_transfer-9-0", "cached_ranges-9-0", "sleeping-9-0")
STARTS = {
    "default, fresh": (None, (2, 3, 500)),
    "default, after (64, 3, 10)": ((64, 3, 10), (2, 3, 500)),
    "(16, 3, 10)": (None, (16, 3, 10)),
    "(64, 3, 10)": (None, (64, 3, 10)),
    "(1, 1, 500)": (None, (1, 1, 500)),
}
"""What was in force for a while, and what is when it looks; the default is bistable on a saturating mix."""

LOOK_S = 5.0
BEFORE_S = 2.0
SETTLE_S = 1.5
COMPARED = LiveSettings(repeats=6, window_s=1.0)


def advice_for(name: str, place: LabPlace, predictor: ScorePredictor) -> list[dict[str, Any]]:
    """What is advised from every start, and again under that advice."""
    rows: list[dict[str, Any]] = []
    for start, (before, core) in STARTS.items():
        with LabServer(named_workload(name), place) as server:
            first = server.tuple_in_force()
            if before is not None:
                server.apply(first.with_core(before))
                server.run_for(BEFORE_S)
            server.apply(first.with_core(core))
            server.run_for(SETTLE_S)
            advised = _ask(server, predictor)
            server.apply(first.with_core(advised))
            server.run_for(SETTLE_S)
            rows.append({"workload": name, "start": start, "advised": advised, "again": _ask(server, predictor)})
    values = values_of(name, place, sorted({row[key] for row in rows for key in ("advised", "again")}))
    best = max(values.values(), key=np.mean)
    for row in rows:
        row["loses"], row["again_loses"] = (_loses(values[row[key]], best) for key in ("advised", "again"))
        row["error"] = float(np.std(values[row["again"]], ddof=1) / np.sqrt(COMPARED.repeats))
    return rows


def values_of(name: str, place: LabPlace, cores: list[Core]) -> dict[Core, list[float]]:
    """J of every tuple in rounds of random order on one server, as its clients see it."""
    workload = named_workload(name)
    with LabServer(workload, place) as server:
        windows = compared(server, cores, COMPARED, seed=0)
    return {core: [workload.objective.value(window) for window in each] for core, each in windows.items()}


def _loses(values: list[float], best: list[float]) -> float:
    return float(1.0 - np.exp(np.mean(values) - np.mean(best)))


def _ask(server: LabServer, predictor: ScorePredictor) -> Core:
    window = observe(server, LOOK_S).window.without_classes()
    return predictor.predict([window], server.knobs, Objective()).pool_tuple.core


def main() -> None:
    """Asks, prints and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/mariadb_advice.json"))
    parser.add_argument("--folder", type=Path, default=Path("lab"))
    parser.add_argument("--model", type=Path, default=None)
    given = parser.parse_args()
    console = Console()
    predictor = ScorePredictor(load_champion(given.model, "mariadb"))
    rows: list[dict[str, Any]] = []
    for name in WORKLOADS:
        rows += advice_for(name, LabPlace(folder=given.folder), predictor)
        write_json(given.json, rows)
    table = Table("workload", "start", "advised", "and again", "loses then", title="Advice from several starts")
    for row in rows:
        shown = (str(PoolTuple(*row[key])) for key in ("advised", "again"))
        table.add_row(row["workload"], row["start"], *shown, f"{row['again_loses']:.1%} (error {row['error']:.1%})")
    console.print(table)


if __name__ == "__main__":
    main()
