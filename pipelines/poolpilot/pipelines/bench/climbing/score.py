"""What a run of sizes cost: every figure from the curve without noise."""

from dataclasses import dataclass

import numpy as np

from poolpilot.pipelines.bench.climbing.play import Sizes
from poolpilot.pipelines.bench.climbing.shapes import Floats, Landscape

REST = 10
"""The last tenth of a run is where a controller rests."""


@dataclass(frozen=True, slots=True)
class Score:
    """Scores of one run.

    Attributes:
        objective_lost: Mean share of the objective lost to the optimum.
        throughput_lost: Mean share of the throughput lost to the largest one: the area.
        samples_to_stay: Samples until within 5 % of the best objective and staying there; None: not in this run.
        end_lost: Share of the objective lost at rest.
        size_over_smallest: Size at rest over the smallest size within 1 % of the largest throughput.
        changes: Changes of the size.
        wrong_moves: Changes that made the objective worse.
    """

    objective_lost: float
    throughput_lost: float
    samples_to_stay: int | None
    end_lost: float
    size_over_smallest: float
    changes: int
    wrong_moves: int


def score(sizes: Sizes, landscape: Landscape, tolerance: float = 0.05) -> Score:
    """Scores the sizes of a run on one landscape.

    Args:
        sizes: Size in force during every sample.
        landscape: What a size gives.
        tolerance: Regret that counts as being there.
    """
    regrets = landscape.regrets[sizes - 1]
    rest = sizes[-max(len(sizes) // REST, 1) :]
    moved = np.diff(sizes) != 0
    worse = np.diff(regrets) > 0.0
    return Score(
        objective_lost=float(regrets.mean()),
        throughput_lost=float(landscape.losses[sizes - 1].mean()),
        samples_to_stay=samples_to_stay(regrets, tolerance),
        end_lost=float(landscape.regrets[rest - 1].mean()),
        size_over_smallest=float(np.median(rest)) / landscape.smallest_good,
        changes=int(moved.sum()),
        wrong_moves=int((moved & worse).sum()),
    )


def samples_to_stay(regrets: Floats, tolerance: float) -> int | None:
    """Samples until the regret falls to the tolerance for good; None if it does not."""
    outside = np.flatnonzero(regrets > tolerance)
    first = int(outside[-1]) + 1 if len(outside) else 0
    return first if first < len(regrets) else None
