"""A handful of stored sweeps swept again: how far are those off that were measured under the older timer?

How to run: `python benchmarks/timer_sweeps.py [--workloads 6] [--json PATH]` (twelve minutes, nothing beside). The
older timer was armed anew by every change of the tuple; a change of the interval still does that, so it is had again by
another interval in between. Both ways take turns on one live pool, every tuple twice: as the store was measured
(settled and watched for as long as its records say), and as today (settling measured, windows of two ticks under a
timer that runs free). Results to expect: the best tuple each way, and what it loses by the windows of today.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.env.measurement.protocol import MeasurementSettings, measure, observe
from poolpilot.env.measurement.sweep import Core, WorkloadSweep
from poolpilot.env.output import write_json
from poolpilot.env.servers.native import NativeServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.store.dataset import Row, read_swept_rows, sweep_of

STORE = Path("pipelines/records")
REPEATS = 2
IDLE_TIMEOUT_S = 1.0
"""As when the store was collected: threads of one tuple should not serve the next."""


@dataclass(frozen=True)
class StoredSweep:
    """A workload of the store: what was sent, what was measured, and for how long under each tuple."""

    workload: Workload
    sweep: WorkloadSweep
    settle_s: dict[Core, float]
    window_s: float

    @classmethod
    def of(cls, definition: Row, rows: list[Row]) -> "StoredSweep":
        """From the rows of the store."""
        sweep = sweep_of(definition, rows)
        first = {(row["pool_size"], row["oversubscribe"], row["timer_interval_ms"]): row for row in reversed(rows)}
        settle_s = {core: float(row["settle_s"]) for core, row in first.items()}
        workload = Workload.from_dict(json.loads(definition["workload"]))
        return cls(workload, sweep, settle_s, float(np.median([row["duration_s"] for row in rows])))


def stored(workloads: int) -> list[StoredSweep]:
    """A workload of each of so many families, with one and with two processors in turn."""
    swept = read_swept_rows(STORE, "train", "validation")
    by_family: dict[str, list[str]] = defaultdict(list)
    for name in swept.windows:
        by_family[swept.definitions[name]["family"]].append(name)
    families = [by_family[family] for family in sorted(by_family)]
    spread = np.linspace(0, len(families) - 1, min(workloads, len(families))).round().astype(int)
    chosen = [families[place][turn % len(families[place])] for turn, place in enumerate(spread)]
    return [StoredSweep.of(swept.definitions[name], list(swept.windows[name])) for name in chosen]


def value_then(server: NativeServer, one: StoredSweep, pool_tuple: PoolTuple) -> float:
    """J as the store's windows were measured."""
    server.apply(replace(pool_tuple, timer_interval_ms=pool_tuple.timer_interval_ms + 1))
    server.apply(pool_tuple)
    server.run_for(one.settle_s[pool_tuple.core])
    return one.sweep.objective.value(observe(server, one.window_s).window)


def value_today(server: NativeServer, one: StoredSweep, pool_tuple: PoolTuple) -> float:
    """J as windows are measured today."""
    return one.sweep.objective.value(measure(server, pool_tuple, MeasurementSettings()).window)


def swept_again(one: StoredSweep, rng: np.random.Generator) -> dict[str, dict[Core, list[float]]]:
    """J of every tuple of the store, both ways in turn, the tuples in random order."""
    ways = {"then": value_then, "today": value_today}
    found: dict[str, dict[Core, list[float]]] = {way: {core: [] for core in one.settle_s} for way in ways}
    tuples = [PoolTuple(*core, idle_timeout_s=IDLE_TIMEOUT_S) for core in one.settle_s]
    with NativeServer(one.workload, initial=tuples[0]) as server:
        for _ in range(REPEATS):
            for index in rng.permutation(len(tuples)):
                for way in rng.permutation(list(ways)):
                    found[way][tuples[index].core].append(ways[way](server, one, tuples[index]))
    return found


def best_of(values: dict[Core, list[float]]) -> Core:
    """The tuple with the greatest mean."""
    return max(values, key=lambda core: float(np.mean(values[core])))


def compared(one: StoredSweep, found: dict[str, dict[Core, list[float]]]) -> dict[str, Any]:
    """The best tuple of each way, and what it loses by the windows of today."""
    today = {core: float(np.mean(values)) for core, values in found["today"].items()}
    choices = {
        "store": one.sweep.oracle_tuple.core,
        "then": best_of(found["then"]),
        "today": best_of(found["today"]),
    }
    noise = float(np.sqrt(np.mean([np.var(values, ddof=1) for values in found["today"].values()])))
    shift = {
        str(interval_ms): float(
            np.median(
                [
                    np.mean(found["today"][core]) - np.mean(found["then"][core])
                    for core in today
                    if core[2] == interval_ms
                ]
            )
        )
        for interval_ms in sorted({core[2] for core in today})
    }
    return {
        "workload": one.sweep.workload_id,
        "cpus": one.workload.cpus,
        "tuples": len(today),
        "best": {way: list(core) for way, core in choices.items()},
        "loses": {way: float(-np.expm1(today[core] - max(today.values()))) for way, core in choices.items()},
        "noise": noise,
        "log_today_over_then": shift,
    }


def results(workloads: int) -> Iterator[dict[str, Any]]:
    """A row for every workload."""
    rng = np.random.default_rng(0)
    for one in stored(workloads):
        yield compared(one, swept_again(one, rng))


def main() -> None:
    """Sweeps and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=6)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    for row in results(arguments.workloads):
        rows.append(row)
        said = "; ".join(f"{way} {tuple(row['best'][way])} loses {row['loses'][way]:.1%}" for way in row["best"])
        print(f"{row['workload']}: {said}; noise {row['noise']:.1%}", flush=True)
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
