"""How far a pool may go before a floor breaks: which configurations the trials so far leave worth trying.

More groups and a shorter stall limit let more requests in beside the long ones, and take from them. Let d be how far a
configuration is beyond the first one, doublings of the size and of the frequency of the timer together, and s the share
that a class has left. On the training families with long classes ln s falls about in proportion to d, so one trial that
breaks a floor tells how far another may go; a configuration as far as one that broke it is never worth trying.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.floors import broken_floors, kept_shares
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

TIMER_WEIGHT = 0.18
"""What a shorter stall limit counts beside more groups: from 500 to 10 ms about as much as twice the groups, as the
sweeps of `scans_beside` in pipelines/mariadb show."""

SLACK = 1.5
"""How much further than that a trial may go: the proportion holds only about, and one trial more may be well spent."""

LEAST_SHARE = 0.01
"""A share below this counts as this, so that its logarithm exists."""


def within_floors(tuples: Sequence[PoolTuple], windows: Sequence[Window], objective: Objective) -> NDArray[np.bool_]:
    """Which tuples may keep all floors by what the windows show, (U,); all where none was broken.

    Args:
        tuples: The U tuples of a server.
        windows: What was measured, the first tuple's first, which is the reference of the floors.
        objective: What counts.
    """
    allowed = np.ones(len(tuples), dtype=np.bool_)
    first = windows[0]
    names = {one.name for window in windows for one in broken_floors(window, first, objective)}
    reach = np.array([_beyond(first.pool_tuple, one) for one in tuples])
    for name in names:
        floor = objective.min_share[name]
        shown = [(_beyond(first.pool_tuple, one.pool_tuple), _kept(one, first, objective, name)) for one in windows[1:]]
        allowed &= _below(reach, shown, floor)
    return allowed


def _below(reach: NDArray[np.float64], shown: Sequence[tuple[float, float]], floor: float) -> NDArray[np.bool_]:
    """Which distances a class with a floor allows, by pairs of distance and share kept."""
    further = [(distance, kept) for distance, kept in shown if distance > 0.0]
    allowed = np.ones(len(reach), dtype=np.bool_)
    if any(kept < floor for _, kept in further):
        steepness = -sum(d * math.log(kept) for d, kept in further) / sum(d * d for d, _ in further)
        nearest = min(distance for distance, kept in further if kept < floor)
        allowed &= (reach < nearest) & (reach * steepness <= -SLACK * math.log(max(floor, LEAST_SHARE)))
    smaller = [distance for distance, kept in shown if distance < 0.0 and kept < floor]
    return allowed & (reach > max(smaller, default=-math.inf))


def _beyond(first: PoolTuple, other: PoolTuple) -> float:
    """How far a tuple is beyond the first one; below 0 it is short of it."""
    size = math.log(other.pool_size / first.pool_size)
    return size + TIMER_WEIGHT * math.log(first.timer_interval_ms / other.timer_interval_ms)


def _kept(window: Window, first: Window, objective: Objective, name: str) -> float:
    return max(kept_shares(window, first, objective).get(name, 1.0), LEAST_SHARE)
