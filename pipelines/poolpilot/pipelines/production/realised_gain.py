"""What a model has gained in production beside the one before it, with an interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy import stats

SURE = 0.95
"""Share of cases in which the interval holds the true difference."""

FEWEST_SERVERS = 3
"""Servers from which on they are what is averaged over: an interval from two clusters says nothing."""


@dataclass(frozen=True, slots=True)
class RealisedGain:
    """Mean gain in J of the decisions of one model, minus that of another.

    Attributes:
        decisions: Decisions of the model, and of the one before.
        mean: Mean gain of the model.
        mean_before: Mean gain of the one before; 0, as of never touching anything, where it has decided nothing.
        low: Lower end of the interval of the difference; None where there are too few.
        high: Upper end of it.
    """

    decisions: tuple[int, int]
    mean: float
    mean_before: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, gains: Mapping[str, Sequence[float]], before: Mapping[str, Sequence[float]]) -> "RealisedGain":
        """Compares the gains of two models, each by server.

        Servers are what is averaged over where both models have at least three of them, else decisions are (Welch's
        interval): decisions on one server resemble each other, so the interval may then be too narrow.
        """
        ours, theirs = _values(gains), _values(before)
        low, high = _interval(*_averaged(gains, before))
        return cls((len(ours), len(theirs)), _mean(ours), _mean(theirs), low, high)

    @property
    def difference(self) -> float:
        """Gain of the model over the one before."""
        return self.mean - self.mean_before

    def clearly_worse(self, margin: float, fewest: int) -> bool:
        """Whether it loses more than a margin even at the upper end of the interval.

        Args:
            margin: In J.
            fewest: Decisions that there must be of the model.
        """
        return self.decisions[0] >= fewest and self.high is not None and self.high < -margin

    def in_words(self) -> str:
        """The comparison as a sentence."""
        ours, theirs = self.decisions
        held = "no interval yet" if self.low is None else f"95 % interval {self.low:+.1%} to {self.high:+.1%}"
        compared = f"the {self.mean_before:+.1%} of {theirs} decisions of the one before" if theirs else "nothing"
        return f"its {ours} decisions have gained {self.mean:+.1%} on average, against {compared} ({held})"


def _averaged(
    gains: Mapping[str, Sequence[float]], before: Mapping[str, Sequence[float]]
) -> tuple[list[float], list[float]]:
    """What the interval is of: means of servers where there are enough, else decisions."""
    if len(gains) >= FEWEST_SERVERS and (not before or len(before) >= FEWEST_SERVERS):
        return [_mean(each) for each in gains.values()], [_mean(each) for each in before.values()]
    return _values(gains), _values(before)


def _interval(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float | None, float | None]:
    if len(ours) < 2 or len(theirs) == 1:
        return None, None
    if np.ptp(ours) == 0.0 and (not theirs or np.ptp(theirs) == 0.0):
        difference = _mean(ours) - _mean(theirs)
        return difference, difference
    found = (
        stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval(SURE)
        if theirs
        else stats.ttest_1samp(ours, 0.0).confidence_interval(SURE)
    )
    return float(found.low), float(found.high)


def _values(gains: Mapping[str, Sequence[float]]) -> list[float]:
    return list(chain.from_iterable(gains.values()))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
