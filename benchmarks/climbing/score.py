"""What a run of sizes cost: every figure from the curve without noise."""

from dataclasses import dataclass

import numpy as np

from climbing.play import Sizes
from climbing.shapes import Floats, Landscape

REST = 10
"""The last tenth of a run is where a controller rests."""

TOLERANCE = 0.05
"""Regret that counts as being there."""


@dataclass(frozen=True, slots=True)
class Score:
    """Scores of one run.

    Attributes:
        objective_lost: Mean share of the objective lost to the optimum.
        samples_to_stay: Samples until within 5 % of the best objective and staying there; None: not in this run.
        end_lost: Share of the objective lost at rest.
    """

    objective_lost: float
    samples_to_stay: int | None
    end_lost: float


def score(sizes: Sizes, landscape: Landscape) -> Score:
    """Scores the sizes of a run on one landscape."""
    regrets = landscape.regrets[sizes - 1]
    rest = sizes[-max(len(sizes) // REST, 1) :]
    lost_at_rest = float(landscape.regrets[rest - 1].mean())
    return Score(float(regrets.mean()), samples_to_stay(regrets), lost_at_rest)


def samples_to_stay(regrets: Floats) -> int | None:
    """Samples until the regret falls to the tolerance for good; None if it does not."""
    outside = np.flatnonzero(regrets > TOLERANCE)
    first = int(outside[-1]) + 1 if len(outside) else 0
    return first if first < len(regrets) else None
