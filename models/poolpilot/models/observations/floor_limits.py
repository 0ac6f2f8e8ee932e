"""How far a pool may go before a floor breaks: which configurations the trials so far leave worth trying.

More groups and a shorter stall limit let more requests in beside the long ones, and take from them. Let d be how far a
configuration is beyond the first one, doublings of the size and of the frequency of the timer together, and s the share
that a class with a floor has left. On the training families with long classes ln s falls about in proportion to d. So
the first trial goes no further than would be safe under the steepest of them, and what it leaves tells how far others
may go; a configuration as far as one that broke a floor is never worth trying.

Where no class is known the rows that are read stand for the long ones (`Objective.min_rows_share`).
"""

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import ROWS, Objective
from poolpilot.featurizer.catalogue import ROWS_READ_PER_S
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

TIMER_WEIGHT = 0.18
"""What a shorter stall limit counts beside more groups: from 500 to 10 ms about as much as twice the groups, as the
sweeps of `scans_beside` in pipelines/mariadb show."""

STEEPEST = 0.85
"""Fall of ln s by d that is reckoned with before anything was tried: in the sweeps of pipelines/mariadb it is between 0
and 0.84."""

SLACK = 1.5
"""How much further than what was measured says a trial may go: the proportion holds only about, and one more may be
well spent."""

LEAST_REACH = math.log(2.0)
"""So far a first trial may go whatever the floor: to twice the groups."""

LEAST_SHARE = 0.01
"""A share below this counts as this, so that its logarithm exists."""


def may_be_named(
    tuples: Sequence[PoolTuple], windows: Sequence[Window], limits: KnobSpace, objective: Objective
) -> NDArray[np.bool_]:
    """Which tuples may keep all floors and are of use to whoever asks, (U,).

    Args:
        tuples: The U tuples of a server.
        windows: What was measured; see `within_floors`.
        limits: What the server takes, and whoever asks permits.
        objective: What counts.
    """
    kept = within_floors(tuples, windows, objective)
    return kept if limits.permits is None else kept & np.array([limits.permits(one) for one in tuples], dtype=np.bool_)


def within_floors(tuples: Sequence[PoolTuple], windows: Sequence[Window], objective: Objective) -> NDArray[np.bool_]:
    """Which tuples may keep all floors by what the windows show, (U,); all where nothing that is there has one.

    Args:
        tuples: The U tuples of a server.
        windows: What was measured, the first tuple's first, which is the reference of the floors.
        objective: What counts.
    """
    allowed = np.ones(len(tuples), dtype=np.bool_)
    first = windows[0]
    reach = np.array([_beyond(first.pool_tuple, one) for one in tuples])
    left = [(_beyond(first.pool_tuple, one.pool_tuple), objective.kept_floors(one, first)) for one in windows[1:]]
    for name, floor in objective.floors(first).items():
        shown = [(distance, max(kept[name].kept, LEAST_SHARE)) for distance, kept in left]
        allowed &= _below(reach, shown, floor)
    return allowed


def furthest_within_floors(wanted: PoolTuple, windows: Sequence[Window], objective: Objective) -> PoolTuple | None:
    """The furthest step on the way from what is in force to a wanted tuple that may keep all floors; None if none may.

    Args:
        wanted: Where to.
        windows: What was measured; see `within_floors`.
        objective: What counts.
    """
    in_force = windows[-1].pool_tuple
    sizes = [wanted.pool_size]
    while sizes[-1] >= 2 * in_force.pool_size:
        sizes.append(sizes[-1] // 2)
    timers_ms = (int(wanted.timer_interval_ms), int(in_force.timer_interval_ms))
    steps = [wanted.with_core((size, wanted.oversubscribe, each)) for size, each in product(sizes, timers_ms)]
    steps = [each for each in steps if each.core != in_force.core]
    allowed = [each for each, may in zip(steps, within_floors(steps, windows, objective), strict=True) if may]
    return max(allowed, key=lambda each: abs(_beyond(in_force, each)), default=None)


def near_first(window: Window, objective: Objective) -> str | None:
    """Why no more than a first step is advised after one look, as a sentence; None where no floor calls for that."""
    floors = objective.floors(window)
    if ROWS in floors and not window.classes:
        each = window.indicators[ROWS_READ_PER_S] / max(window.throughput_per_s, 1e-9)
        return (
            f"statements read {each:,.0f} rows each, so long ones are among them: no more than a first step, after "
            f"which at least {100.0 * floors[ROWS]:.0f} % of the rows must still be read; observe again under it"
        )
    if not floors:
        return None
    return f"no more than a first step, as {', '.join(map(repr, floors))} must keep a share of what it has"


def forbidden_by_floors(windows: Sequence[Window], objective: Objective) -> str | None:
    """What was better than the best window and breaks a floor, by how much, and how to allow it; None where nothing is.

    Args:
        windows: What was measured; the first is the reference.
        objective: What counts, its floors among it.
    """
    best = objective.best(windows)
    outside = [one for one in windows if objective.broken_floors(one, windows[0])]
    dearest = max(outside, key=objective.value, default=None)
    if dearest is None or objective.value(dearest) <= objective.value(best):
        return None
    broken = objective.broken_floors(dearest, windows[0])
    allowed = " and ".join(one.allowed_by(objective.floor_errors) for one in broken)
    return (
        f"{dearest.pool_tuple} was worth {_worth(dearest, objective)} instead of {_worth(best, objective)} under "
        f"{best.pool_tuple}, but left {' and '.join(map(str, broken))}: {allowed} in the objective would allow it"
    )


def _below(reach: NDArray[np.float64], shown: Sequence[tuple[float, float]], floor: float) -> NDArray[np.bool_]:
    """Which distances a class with a floor allows, by pairs of distance and share kept."""
    further = [(distance, kept) for distance, kept in shown if distance > 0.0]
    room = -math.log(max(floor, LEAST_SHARE))
    if further:
        steepness = -sum(d * math.log(kept) for d, kept in further) / sum(d * d for d, _ in further)
        nearest = min((distance for distance, kept in further if kept < floor), default=math.inf)
        allowed = (reach < nearest) & (reach * steepness <= SLACK * room)
    else:
        allowed = reach * STEEPEST <= max(room, STEEPEST * LEAST_REACH)
    smaller = [distance for distance, kept in shown if distance < 0.0 and kept < floor]
    return allowed & (reach > max(smaller, default=-math.inf))


def _beyond(first: PoolTuple, other: PoolTuple) -> float:
    """How far a tuple is beyond the first one; below 0 it is short of it."""
    size = math.log(other.pool_size / first.pool_size)
    return size + TIMER_WEIGHT * math.log(first.timer_interval_ms / other.timer_interval_ms)


def _worth(window: Window, objective: Objective) -> str:
    """What a window is worth, in what people count it."""
    goodput_per_s = objective.goodput_per_s(window)
    if objective.goes_by_time(window):
        return f"{1e3 / goodput_per_s:.3g} ms in the system"
    return f"{goodput_per_s:.0f} requests/s"
