"""Climbing the core tuple at once against climbing the pool size alone, on simulated pools.

How to run: `python benchmarks/knob_climb.py [--json benchmarks/reports/knob_climb.json]` (some minutes). For each
workload the best tuple of a grid of sizes, oversubscriptions and timer intervals is the oracle. Results to expect:
climbing all three knobs ends within 5 % of it in most workloads, in at most twice the samples of the pool size alone.
"""

import argparse
import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from poolpilot.env.backends.simulated import SimulatedServer
from poolpilot.env.climb import ClimbController, ClimbTrace, run_climb
from poolpilot.env.knob_climb import KnobClimbController
from poolpilot.env.objective import Objective
from poolpilot.env.simulated_families import SIMULATED_FAMILIES, draw_scenario
from poolpilot.env.simulation import Scenario, SimulatedMeasurement, simulate_batch
from poolpilot.env.spectral import ClimbSettings, spectral_climber
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


@dataclass(frozen=True)
class Climbed:
    """What a climb reached.

    Attributes:
        samples: Samples until it held; the longest allowed if it never did.
        end: Tuple it ended on.
    """

    samples: int
    end: PoolTuple


def values_of(scenario: Scenario, tuples: list[PoolTuple]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """J of each tuple by a long simulation."""
    columns = simulate_batch([scenario], tuples, REQUESTS, settings=LONG)
    sizes = np.array([one.pool_size for one in tuples])
    values: np.ndarray[Any, np.dtype[np.float64]] = np.log(columns["throughput_per_s"]) - 0.02 * np.log(sizes)
    return values


def climb(scenario: Scenario, *, all_knobs: bool, settings: ClimbSettings) -> Climbed:
    """Climbs from the default until it holds."""
    objective = Objective()
    with SimulatedServer(scenario.workload, scenario.machine) as server:
        start = server.tuple_in_force()
        held_at: list[int] = []
        steps = 0

        def count(_: object) -> None:
            nonlocal steps
            steps += 1
            if climber.mode == "OPTIMIZED" and not held_at:
                held_at.append(steps)

        controller: KnobClimbController | ClimbController
        if all_knobs:
            controller = KnobClimbController(settings, server.knobs, start, objective)
            climber: Any = controller.climber
        else:
            climber = spectral_climber(settings, server.knobs, start.pool_size)
            controller = ClimbController(climber, start, objective)
        trace: ClimbTrace = run_climb(
            server, controller, settings.period_s, MOST_SAMPLES * settings.period_s, objective, count
        )
    last = held_at[0] if held_at else MOST_SAMPLES
    return Climbed(last, trace.steps[min(last + 1, len(trace.steps) - 1)].pool_tuple)


def compare(family: str, seed: int, settings: ClimbSettings) -> dict[str, Any]:
    """One workload: the oracle, both climbs and what they reach."""
    scenario = draw_scenario(SIMULATED_FAMILIES[family], seed)
    grid = [PoolTuple(*core) for core in product(SIZES, OVERSUBSCRIBES, TIMERS_MS)]
    swept = values_of(scenario, grid)
    oracle = grid[int(np.argmax(swept))]
    one, many = (climb(scenario, all_knobs=flag, settings=settings) for flag in (False, True))
    default = PoolTuple(scenario.workload.cpus, 3, 500)
    best, default_value, one_value, many_value = values_of(scenario, [oracle, default, one.end, many.end])
    return {
        "workload": f"{family}-{seed}",
        "oracle": oracle.core,
        "one_end": one.end.core,
        "many_end": many.end.core,
        "default_regret": float(1 - np.exp(default_value - best)),
        "one_regret": float(1 - np.exp(one_value - best)),
        "many_regret": float(1 - np.exp(many_value - best)),
        "one_samples": one.samples,
        "many_samples": many.samples,
    }


def main() -> None:
    """Compares on every workload, prints the table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seeds", type=int, default=2)
    arguments = parser.parse_args()
    settings = ClimbSettings(period_s=PERIOD_S)
    rows = []
    for family, seed in product(FAMILIES, range(1, arguments.seeds + 1)):
        row = compare(family, seed, settings)
        rows.append(row)
        print(
            f"{row['workload']:20s} oracle {row['oracle']!s:16s} default {row['default_regret']:6.1%} "
            f"size alone {row['one_regret']:6.1%} in {row['one_samples']:3d} {row['one_end']!s:16s} "
            f"all {row['many_regret']:6.1%} in {row['many_samples']:3d} {row['many_end']}",
            flush=True,
        )
    ratio = [row["many_samples"] / row["one_samples"] for row in rows]
    within = fmean(row["many_regret"] <= 0.05 for row in rows)
    print(f"all knobs within 5 %: {within:.0%}; samples over those of the size alone: median {median(ratio):.1f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
