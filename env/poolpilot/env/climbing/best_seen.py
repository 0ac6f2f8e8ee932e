"""What a climb may end on: of the tuples that its latest windows have shown, the best one."""

from collections import defaultdict, deque
from statistics import fmean

from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

LATEST = 24
"""Windows that count: three passes over a range of sizes, and no more, since a load does not stay the same."""


class BestSeen:
    """Keeps what the latest windows of a climb were worth.

    A climber asks for what it wants to see next. Where no window follows, that may be a size that nobody has measured.

    Args:
        objective: What counts.
    """

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._latest: deque[tuple[PoolTuple, float]] = deque(maxlen=LATEST)

    def add(self, window: Window, asked: PoolTuple) -> None:
        """Takes a window; one of another tuple than the climber has asked for is somebody's wish, and begins anew."""
        if window.pool_tuple.core != asked.core:
            self._latest.clear()
        self._latest.append((window.pool_tuple, self._objective.value(window)))

    @property
    def pool_tuple(self) -> PoolTuple | None:
        """The tuple of the greatest mean J; None before the first window."""
        values: dict[PoolTuple, list[float]] = defaultdict(list)
        for pool_tuple, value in self._latest:
            values[pool_tuple].append(value)
        return max(values, key=lambda one: fmean(values[one]), default=None)
