"""What the improvements are worth that the grid of `poolpilot bench climbers --ablations` cannot show.

How to run: `python benchmarks/climber_ablations.py [--json benchmarks/reports/climber_ablations.json]` (a minute). The
sampling interval is evaluated in seconds instead of samples, with noise that averaging over a longer sample lessens; a
warm start by how far the prediction is off; forgetting by a size that somebody else sets in the middle of a climb, with
and without a workload that changes too. Results to expect: an interval that follows the noise loses little wherever a
fixed one loses little; a warm start that verifies loses less than one that trusts as soon as the prediction is off.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from poolpilot.env.output import write_json
from poolpilot.native_pool import SpectralClimber, SpectralSettings
from poolpilot.pipelines.bench.climbing.shapes import Landscape

SHAPES = ("arch", "roof", "knee", "soft_knee")
SCALE, SEEDS = 256, 20
BASE = SpectralSettings(hcm_hillclimbing_enabled=True, adapt_period=False)
NOISE = 0.05
Row = dict[str, Any]


class Bench:
    """A climber on a curve, sample by sample.

    Args:
        climber: The climber.
        landscape: The curve.
        seed: Seed of the noise.
    """

    def __init__(self, climber: SpectralClimber, landscape: Landscape, seed: int) -> None:
        self.climber = climber
        self.landscape = landscape
        self.rng = np.random.default_rng(seed)
        self.size = climber.size

    def sample(self, noise: float, duration_s: float = 0.0) -> float:
        """Plays one sample and returns the share of the objective that its size lost."""
        size = self.size
        rate = self.landscape.throughputs_per_s[size - 1] * float(np.exp(noise * self.rng.standard_normal()))
        self.size = self.climber.update(rate, 2.0 * SCALE, 2.0 * SCALE / rate, size, duration_s)
        return float(self.landscape.regrets[size - 1])


def over_runs(run: Callable[[Landscape, int], float]) -> float:
    """Mean over shapes and seeds."""
    return fmean(run(Landscape.of(shape, SCALE, 0.02), seed) for shape in SHAPES for seed in range(SEEDS))


def interval(noise_of_2_s: float, settings: SpectralSettings, seconds: float = 300.0) -> float:
    """Objective lost over time by a cold climb from 8, when the noise falls with the root of the interval."""

    def run(landscape: Landscape, seed: int) -> float:
        bench = Bench(SpectralClimber(settings, 8, 1, SCALE), landscape, seed)
        lost = passed_s = 0.0
        while passed_s < seconds:
            period_s = bench.climber.period_s
            lost += period_s * bench.sample(noise_of_2_s * (2.0 / period_s) ** 0.5, period_s)
            passed_s += period_s
        return lost / passed_s

    return over_runs(run)


def intervals() -> list[Row]:
    """Fixed and adapted intervals at several noises."""
    kinds = {
        "0.1 s": BASE.replaced(hcm_min_period=0.1, hcm_period=0.1),
        "2 s": BASE.replaced(hcm_min_period=0.1, hcm_period=2.0),
        "adapted": BASE.replaced(adapt_period=True),
    }
    return [
        {"noise_of_2_s": noise, **{name: interval(noise, settings) for name, settings in kinds.items()}}
        for noise in (0.005, 0.02, 0.05, 0.1)
    ]


def warm_starts() -> list[Row]:
    """Objective lost in 300 samples by a cold climb from 8 and by warm starts whose prediction is off by a factor."""
    trusting = BASE.replaced(verify_warm_start=False)

    def started(factor: float, settings: SpectralSettings, *, warm: bool) -> float:
        def run(landscape: Landscape, seed: int) -> float:
            predicted = max(1, min(SCALE, round(factor * landscape.optimum)))
            start = predicted if warm else 8
            bench = Bench(SpectralClimber(settings, start, 1, SCALE, warm=warm), landscape, seed)
            return fmean(bench.sample(NOISE) for _ in range(300))

        return over_runs(run)

    cold = started(1.0, BASE, warm=False)
    return [
        {
            "prediction_over_optimum": factor,
            "cold": cold,
            "warm, trusting": started(factor, trusting, warm=True),
            "warm, verifying": started(factor, BASE, warm=True),
        }
        for factor in (1.0, 1.3, 0.7, 2.0, 0.5, 0.25)
    ]


def forced_changes() -> list[Row]:
    """Objective lost after somebody has quartered the size in the middle of a climb."""

    def run_with(settings: SpectralSettings, *, changes: bool) -> float:
        def run(landscape: Landscape, seed: int) -> float:
            bench = Bench(SpectralClimber(settings, 128, 1, SCALE), landscape, seed)
            for _ in range(40):
                bench.sample(NOISE)
            bench.size = max(1, bench.size // 4)
            if changes:
                moved = Landscape.of("arch", SCALE, 0.02, 1 / 24)
                bench.landscape = moved
            return fmean(bench.sample(NOISE) for _ in range(300))

        return over_runs(run)

    keeping = BASE.replaced(reset_on_forced_change=False)
    return [
        {
            "workload": "changes too" if changes else "stays",
            "forgetting": run_with(BASE, changes=changes),
            "keeping": run_with(keeping, changes=changes),
        }
        for changes in (False, True)
    ]


def shown(rows: Sequence[Row]) -> str:
    """Rows as people read them, losses in per cent."""
    return "\n".join(
        "  ".join(
            f"{name} {value:.2%}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items()
        )
        for row in rows
    )


def main() -> None:
    """Measures, prints and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results = {"intervals": intervals(), "warm_starts": warm_starts(), "forced_changes": forced_changes()}
    for name, rows in results.items():
        print(f"{name}\n{shown(rows)}")
    write_json(arguments.json, results)


if __name__ == "__main__":
    main()
