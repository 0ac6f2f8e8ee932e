"""Floors: what a configuration leaves the classes that must keep a share of their throughput, and what that forbids."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window


@dataclass(frozen=True, slots=True)
class BrokenFloor:
    """A class that keeps less than it must.

    Attributes:
        name: The class.
        kept: Share of its throughput under the reference that it has left.
        floor: Share that it must keep (`Objective.min_share`).
    """

    name: str
    kept: float
    floor: float

    def __str__(self) -> str:
        """In words, as the end of a sentence."""
        kept, floor = 100.0 * self.kept, 100.0 * self.floor
        return f"the class {self.name!r} {kept:.0f} % of what it had, and its floor is {floor:.0f} %"


def kept_shares(window: Window, reference: Window, objective: Objective) -> dict[str, float]:
    """Share of its throughput under the reference that every class with a floor has left, by class."""
    return {
        name: (window.classes[name].throughput_per_s if name in window.classes else 0.0) / of_class.throughput_per_s
        for name, of_class in reference.classes.items()
        if name in objective.min_share and of_class.throughput_per_s > 0.0
    }


def broken_floors(window: Window, reference: Window, objective: Objective) -> tuple[BrokenFloor, ...]:
    """The floors that a window breaks, that of the class which lacks most first."""
    broken = [
        BrokenFloor(name, kept, objective.min_share[name])
        for name, kept in kept_shares(window, reference, objective).items()
        if kept < objective.min_share[name]
    ]
    return tuple(sorted(broken, key=lambda one: one.kept / one.floor))


def forbidden_by_floors(windows: Sequence[Window], objective: Objective) -> str | None:
    """What was better than the best window and breaks a floor, by how much, and how to allow it; None where nothing is.

    Args:
        windows: What was measured; the first is the reference.
        objective: What counts, its floors among it.
    """
    best = objective.best(windows)
    outside = [one for one in windows if broken_floors(one, windows[0], objective)]
    dearest = max(outside, key=objective.value, default=None)
    if dearest is None or objective.value(dearest) <= objective.value(best):
        return None
    broken = broken_floors(dearest, windows[0], objective)
    allowed = " and ".join(f"{math.floor(100.0 * one.kept) / 100.0:g} for {one.name!r}" for one in broken)
    return (
        f"{dearest.pool_tuple} was worth {objective.goodput_per_s(dearest):.0f} requests/s instead of "
        f"{objective.goodput_per_s(best):.0f} under {best.pool_tuple}, but left {' and '.join(map(str, broken))}: "
        f"a min_share of at most {allowed} in the objective would allow it"
    )
