"""Climbing the core tuple at once against climbing the pool size alone, on simulated pools.

How to run: `python benchmarks/knob_climb.py [--json benchmarks/reports/knob_climb.json]` (some minutes). For each
workload the best tuple of a grid of sizes, oversubscriptions and timer intervals is the oracle. Results to expect:
climbing all three knobs ends within 5 % of it in most workloads, in at most twice the samples of the pool size alone. A
search by a Gaussian process stands beside both.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from knob_runs import CONTENDERS, line_of, row_of, summary_of
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.objective import Objective
from poolpilot.env.output import write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, simulate_batch
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES, draw_scenario
from poolpilot.featurizer.pool_tuple import PoolTuple

FAMILIES = (
    "sim_io_bound",
    "sim_hot_latch",
    "sim_commit_bound",
    "twin_cpu_single",
    "twin_silent_single",
    "twin_silent_beside_cpu",
    "twin_silent_then_latch",
    "twin_latch_beside_cpu",
)
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
OVERSUBSCRIBES = (1, 3, 8, 24)
TIMERS_MS = (1, 10, 100, 499, 500, 1000)
LONG = SimulatedMeasurement(settle_s=1.0, max_settle_s=2.0)
REQUESTS = 20_000
PERIOD_S = 0.25
MOST_SAMPLES = 600


def values_of(scenario: Scenario, tuples: list[PoolTuple]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """J of each tuple by a long simulation."""
    columns = simulate_batch([scenario], tuples, REQUESTS, settings=LONG)
    sizes = np.array([one.pool_size for one in tuples])
    values: np.ndarray[Any, np.dtype[np.float64]] = np.log(columns["throughput_per_s"]) - 0.02 * np.log(sizes)
    return values


def compare(family: str, seed: int, settings: ClimbSettings) -> dict[str, Any]:
    """One workload: the oracle, both climbs and what they reach."""
    scenario = draw_scenario(SIMULATED_FAMILIES[family], seed)
    grid = [PoolTuple(*core) for core in product(SIZES, OVERSUBSCRIBES, TIMERS_MS)]
    swept = values_of(scenario, grid)
    oracle = grid[int(np.argmax(swept))]
    ends = {}
    for name, contender in CONTENDERS.items():
        with SimulatedServer(scenario.workload, scenario.machine) as server:
            ends[name] = contender(server, Objective(), settings, MOST_SAMPLES)
    default = PoolTuple(scenario.workload.cpus, 3, 500)
    values = values_of(scenario, [oracle, default, *(one.end for one in ends.values())])
    return row_of(f"{family}-{seed}", oracle, ends, list(values))


def main() -> None:
    """Compares on every workload, prints the table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--families", nargs="+", default=FAMILIES, help="families to draw from")
    parser.add_argument("--seeds", type=int, default=2, help="workloads of each")
    arguments = parser.parse_args()
    settings = ClimbSettings(period_s=PERIOD_S)
    rows = []
    for family, seed in product(arguments.families, range(1, arguments.seeds + 1)):
        row = compare(family, seed, settings)
        rows.append(row)
        print(line_of(row), flush=True)
    print(summary_of(rows))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
