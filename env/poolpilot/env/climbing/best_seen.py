"""What a climb decides by, and what it may end on: of the tuples that its latest windows have shown, the best one."""

import math
from collections import deque
from dataclasses import dataclass
from statistics import fmean

from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

LATEST = 24
"""Windows that count: three passes over a range of sizes, and no more, since a load does not stay the same."""

STEEPNESS = 8.0
"""What breaks a floor or a limit by a factor is worth less by that factor to this power, so that a climb turns back."""

LEAST_KEPT = 0.01
"""Share of a floor or a limit that is reckoned with at least, so that a climb sees a slope where nothing is left."""


@dataclass(frozen=True, slots=True)
class _Judged:
    pool_tuple: PoolTuple
    value: float
    kept: dict[str, float]


class BestSeen:
    """Keeps what the latest windows of a climb were worth, and what they left of floors and limits.

    A climber asks for what it wants to see next. Where no window follows, that may be a size that nobody has measured.

    Args:
        objective: What counts.
        reference: What floors are shares of; the first window of the climb unless one is given.
    """

    def __init__(self, objective: Objective, reference: Window | None = None) -> None:
        self._objective = objective
        self._reference = reference
        self._latest: deque[_Judged] = deque(maxlen=LATEST)

    def add(self, window: Window, asked: PoolTuple) -> float:
        """Takes a window; one of another tuple than the climber has asked for is somebody's wish, and begins anew.

        Returns:
            What to climb on: what the window was worth a second, and less where its tuple breaks a floor or a limit.
        """
        self._reference = self._reference or window
        if window.pool_tuple.core != asked.core:
            self._latest.clear()
        kept = self._objective.kept_limits(window, self._reference)
        self._latest.append(_Judged(window.pool_tuple, self._objective.value(window), kept))
        return self._objective.worth_per_s(window) * math.exp(-_broken(self._of(window.pool_tuple)))

    @property
    def pool_tuple(self) -> PoolTuple | None:
        """The tuple of the greatest mean J, less what it breaks; None before the first window.

        Of sizes that are not told apart from it the smallest: the best of many noisy means is a matter of luck.
        """
        best = max((one.pool_tuple for one in self._latest), key=self._mean_value, default=None)
        if best is None:
            return None
        others = {one.pool_tuple for one in self._latest if one.pool_tuple.core[1:] == best.core[1:]}
        alike = [one for one in others if self._mean_value(best) - self._mean_value(one) <= self._error(best, one)]
        return min(alike, key=lambda one: one.pool_size)

    def _error(self, one: PoolTuple, other: PoolTuple) -> float:
        """Standard error of the difference of two means, by how windows of the same tuple scatter."""
        by_tuple = [[each.value for each in self._of(tried)] for tried in {each.pool_tuple for each in self._latest}]
        squares = sum((value - fmean(values)) ** 2 for values in by_tuple for value in values)
        freedom = len(self._latest) - len(by_tuple)
        noise = math.sqrt(squares / freedom) if freedom else 0.0
        return noise * math.sqrt(1 / len(self._of(one)) + 1 / len(self._of(other)))

    def _mean_value(self, pool_tuple: PoolTuple) -> float:
        seen = self._of(pool_tuple)
        return fmean(one.value for one in seen) - _broken(seen)

    def _of(self, pool_tuple: PoolTuple) -> list[_Judged]:
        return [one for one in self._latest if one.pool_tuple == pool_tuple]


def _broken(seen: list[_Judged]) -> float:
    """How much of J the windows of a tuple lose by floors and limits; by their mean, since few requests end in one."""
    names = sorted({name for one in seen for name in one.kept})
    means = [fmean(one.kept[name] for one in seen if name in one.kept) for name in names]
    return -STEEPNESS * sum(math.log(min(max(mean, LEAST_KEPT), 1.0)) for mean in means)
