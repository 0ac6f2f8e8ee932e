"""Ours against each baseline, cell by cell: won, tied or lost, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Outcome = Literal["won", "tied", "lost"]

NEGLIGIBLE = 5e-4
"""Share of the objective, a twentieth of a point, up to which a difference is a tie whatever its interval."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A paired comparison over the seeds of one cell.

    Attributes:
        difference: Mean of ours minus the baseline's; below 0 is better.
        low: Lower end of its interval; None where one repeat tells none.
        high: Upper end.
    """

    difference: float
    low: float | None
    high: float | None

    @property
    def least(self) -> float:
        """What ours loses at least, as far as is known: the lower end, else the difference."""
        return self.difference if self.low is None else self.low

    @property
    def most(self) -> float:
        """What ours loses at most, as far as is known: the upper end, else the difference."""
        return self.difference if self.high is None else self.high

    @property
    def outcome(self) -> Outcome:
        """Won or lost where the interval, if there is one, excludes 0 and the difference is not negligible."""
        if abs(self.difference) <= NEGLIGIBLE:
            return "tied"
        if self.most < 0.0:
            return "won"
        return "lost" if self.least > 0.0 else "tied"

    def non_inferior(self, margin: float) -> bool:
        """Whether ours is worse by less than the margin, beyond doubt where there is an interval."""
        return self.most < margin


def compare(ours: Sequence[float], baseline: Sequence[float], confidence: float = 0.95) -> Verdict:
    """Compares paired runs by Student's t; a single pair has its difference and no interval.

    Args:
        ours: Loss of ours by seed.
        baseline: Loss of the baseline by seed.
        confidence: Of the interval.
    """
    differences: NDArray[np.float64] = np.asarray(ours) - np.asarray(baseline)
    mean = float(differences.mean())
    if len(differences) < 2:
        return Verdict(mean, None, None)
    error = float(differences.std(ddof=1)) / len(differences) ** 0.5
    half = float(stats.t.ppf(0.5 + confidence / 2.0, len(differences) - 1)) * error
    return Verdict(mean, mean - half, mean + half)


def tally(verdicts: Sequence[Verdict]) -> Mapping[Outcome, int]:
    """How many were won, tied and lost."""
    outcomes = [one.outcome for one in verdicts]
    return {"won": outcomes.count("won"), "tied": outcomes.count("tied"), "lost": outcomes.count("lost")}
