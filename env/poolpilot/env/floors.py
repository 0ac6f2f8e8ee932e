"""Floors: what a configuration leaves those that must keep a share of what they had, and what that forbids."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from poolpilot.env.objective import ROWS, Objective
from poolpilot.env.server import AnyServer, WindowSource
from poolpilot.featurizer.snapshot import LATENCY_PREFIX
from poolpilot.featurizer.window import Window

RULED_OUT = 2.0
"""How many times as many errors below a floor as above it are doubt: what is ruled out is not tried again."""


@dataclass(frozen=True, slots=True)
class BrokenFloor:
    """A class that keeps less than it must, or may do so; or the rows read, where no class is known.

    Attributes:
        name: The class, or `ROWS`.
        kept: Share of what it had under the reference that it has left.
        error: Standard error of that, by counting.
        floor: Share that it must keep (`Objective.floors`).
        of_class: Whether it is a class.
    """

    name: str
    kept: float
    error: float
    floor: float
    of_class: bool = True

    def __str__(self) -> str:
        """In words, as the end of a sentence."""
        doubt = f", give or take {100.0 * self.error:.0f}," if self.kept >= self.floor else ""
        kept, floor = f"{100.0 * self.kept:.0f} %{doubt}", f"floor is {100.0 * self.floor:.0f} %"
        if not self.of_class:
            return f"{kept} of the {self.name} before, and their {floor}"
        return f"the class {self.name!r} {kept} of what it had, and its {floor}"

    def allowed_by(self, errors: float) -> str:
        """The setting that would have allowed it, in words."""
        share = math.floor(100.0 * max(self.kept - errors * self.error, 0.0)) / 100.0
        return (
            f"a min_share of at most {share:g} for {self.name!r}" if self.of_class else f"a min_rows_share of {share:g}"
        )


def may_have_floors(objective: Objective, server: AnyServer) -> bool:
    """Whether something under a server may have a floor; what has one only a window shows.

    Args:
        objective: What counts.
        server: The server; one that shows rows read and no classes has a floor for its long statements.

    Raises:
        ServerError: The server cannot be asked.
    """
    of_classes = any(objective.min_share.values())
    if of_classes or isinstance(server, WindowSource) or objective.min_rows_share == 0.0:
        return of_classes
    snapshot = server.snapshot()
    classes = any(name.startswith(LATENCY_PREFIX) for name in snapshot.histograms)
    return "rows_read" in snapshot.counters and not classes


def broken_floors(window: Window, reference: Window, objective: Objective) -> tuple[BrokenFloor, ...]:
    """The floors for which a window may not be kept, that of which most is lacking first."""
    if objective.may_be_kept(window, reference):
        return ()
    broken = []
    for name, floor in objective.floors(reference).items():
        kept, error = objective.kept_share(name, window, reference)
        if kept - objective.floor_errors * error < floor:
            broken.append(BrokenFloor(name, kept, error, floor, of_class=name != ROWS or bool(reference.classes)))
    return tuple(sorted(broken, key=lambda one: one.kept / one.floor))


def floor_in_doubt(window: Window, reference: Window, objective: Objective) -> bool:
    """Whether a share is so near to its floor that by counting it may be on either side.

    Few requests that ended make a share look surer than it is; so the error at the floor itself counts too.
    """
    for name, floor in objective.floors(reference).items():
        kept, error = objective.kept_share(name, window, reference)
        if reference.classes:
            at_floor = floor * reference.classes[name].throughput_per_s * window.duration_s
            error = max(error, floor / math.sqrt(at_floor + 1.0))
        if -RULED_OUT * objective.floor_errors * error < kept - floor < objective.floor_errors * error:
            return True
    return False


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
    allowed = " and ".join(one.allowed_by(objective.floor_errors) for one in broken)
    return (
        f"{dearest.pool_tuple} was worth {_worth(dearest, objective)} instead of {_worth(best, objective)} under "
        f"{best.pool_tuple}, but left {' and '.join(map(str, broken))}: {allowed} in the objective would allow it"
    )


def _worth(window: Window, objective: Objective) -> str:
    """What a window is worth, in what people count it."""
    goodput_per_s = objective.goodput_per_s(window)
    if objective.goes_by_time(window):
        return f"{1e3 / goodput_per_s:.3g} ms in the system"
    return f"{goodput_per_s:.0f} requests/s"
