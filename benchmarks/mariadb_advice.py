"""Whether `poolpilot advise` says the same from several starting tuples, and again after its advice was set."""

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from poolpilot.env.lab.families import named_workload
from poolpilot.env.lab.server import LabPlace, LabServer
from poolpilot.env.measurement import observe
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.champion import load_champion
from poolpilot.models.predictor import ScorePredictor

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


def advice_for(name: str, place: LabPlace, predictor: ScorePredictor) -> list[dict[str, Any]]:
    """What is advised from every start, and again under that advice."""
    rows = []
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
    return rows


def _ask(server: LabServer, predictor: ScorePredictor) -> tuple[int, int, int]:
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
        given.json.write_text(json.dumps(rows, indent=1) + "\n")
    table = Table("workload", "start", "advised", "and again", title="Advice from several starts")
    for row in rows:
        table.add_row(row["workload"], row["start"], *(str(PoolTuple(*row[key])) for key in ("advised", "again")))
    console.print(table)


if __name__ == "__main__":
    main()
