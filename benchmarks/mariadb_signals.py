"""How well what the server shows agrees with what its clients see: docs/results-mariadb.md's table of signals.

Every workload runs on a fresh server under several tuples; the server's side of a window is compared with what the
threads of sysbench measured in the same window. Only workloads whose requests are single statements can be compared
request by request.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from poolpilot.env.measurement.protocol import MARIADB_RACING, measure
from poolpilot.env.output import write_json
from poolpilot.featurizer.window import Window
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.lab.sysbench_families import named_workload

WORKLOADS = (
    "point_select-5-0",
    "cached_ranges-5-0",
    "sleeping-5-0",
    "update_index-5-0",
    "hot_counter-5-0",
    "scans_beside-5-0",
    "sorts_beside-5-0",
    "joins_beside-5-0",
)
CORES = ((2, 3, 500), (1, 1, 10), (16, 3, 10), (64, 3, 10))
WINDOW_S = 3.0


@dataclass(frozen=True)
class Pair:
    """One quantity of one window, as the server shows it and as the clients saw it."""

    quantity: str
    workload: str
    server: float
    clients: float


def pairs_of(workload: SqlWorkload, window: Window) -> Iterator[Pair]:
    """The quantities that both sides know."""
    seen_per_s = sum(one.throughput_per_s for one in window.classes.values())
    in_system = sum(one.throughput_per_s * one.latency.mean / 1e6 for one in window.classes.values())
    told = window.without_classes()
    yield Pair("statements a second", workload.name, told.throughput_per_s, seen_per_s)
    yield Pair("connections", workload.name, window.profile.features["connections"] or 0.0, workload.connections)
    if told.in_system is not None and told.time_in_system_s is not None:
        yield Pair("requests in the system", workload.name, told.in_system, in_system)
        yield Pair("time in the system, ms", workload.name, 1e3 * told.time_in_system_s, 1e3 * in_system / seen_per_s)
        pausing = [one for one in workload.classes if one.think_ms > 0.0]
        if pausing:
            outside = workload.connections - told.in_system
            drawn_ms = sum(window.classes[one.name].throughput_per_s * one.think_ms for one in pausing) / seen_per_s
            yield Pair("think time, ms", workload.name, 1e3 * outside / told.throughput_per_s, drawn_ms)


def measured(place: LabPlace, console: Console) -> list[Pair]:
    """All pairs of all workloads."""
    settings = MARIADB_RACING.model_copy(update={"window_s": WINDOW_S})
    found: list[Pair] = []
    for name in WORKLOADS:
        workload = named_workload(name)
        console.print(f"{name} ...")
        with LabServer(workload, place) as server:
            for core in CORES:
                window = measure(server, server.tuple_in_force().with_core(core), settings).window
                if window.throughput_per_s > 0.0:
                    found += pairs_of(workload, window)
    return found


def summary(pairs: list[Pair]) -> dict[str, dict[str, float]]:
    """Relative error of the server's side by quantity: median of the signed, median and greatest of the absolute."""
    rows = {}
    for quantity in dict.fromkeys(one.quantity for one in pairs):
        each = [(one.server - one.clients) / one.clients for one in pairs if one.quantity == quantity and one.clients]
        absolute = np.abs(each)
        rows[quantity] = {
            "windows": float(len(each)),
            "bias": float(np.median(each)),
            "error_median": float(np.median(absolute)),
            "error_p90": float(np.quantile(absolute, 0.9)),
        }
    return rows


def main() -> None:
    """Measures, prints the table and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/mariadb_signals.json"))
    parser.add_argument("--runs", type=Path, default=Path("build/bench/mariadb_signals.jsonl"), help="every pair")
    parser.add_argument("--folder", type=Path, default=Path("lab"))
    given = parser.parse_args()
    console = Console()
    pairs = measured(LabPlace(folder=given.folder), console)
    rows = summary(pairs)
    table = Table(
        "quantity", "windows", "bias", "median error", "90th percentile", title="Server against clients, in %"
    )
    for quantity, row in rows.items():
        shown = (f"{100 * row[key]:.1f}" for key in ("bias", "error_median", "error_p90"))
        table.add_row(quantity, f"{row['windows']:.0f}", *shown)
    console.print(table)
    write_json(given.json, {"summary": rows})
    given.runs.parent.mkdir(parents=True, exist_ok=True)
    given.runs.write_text("".join(json.dumps(vars(one)) + "\n" for one in pairs))


if __name__ == "__main__":
    main()
