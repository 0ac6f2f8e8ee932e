"""A floor, and what is left of what has one: stated once, for whoever keeps a configuration or takes one back."""

import math
from dataclasses import dataclass

RULED_OUT = 2.0
"""How many times as many errors below a floor as above it are doubt: what is ruled out is not tried again."""

LEAST_ERROR = 1e-3
"""Standard error of a share that is at least reckoned with."""


@dataclass(frozen=True, slots=True)
class KeptFloor:
    """The share that something keeps of what it had under the reference, beside the share that it must keep.

    One statistic answers two questions. Let `kept` be the share and `noise` the standard deviation of its logarithm,
    so that its standard error is about `kept * noise`. What is to be kept must stand above its floor by some errors
    (`stands`): doubt speaks against it. What is to be taken back must have fallen below its floor, and by some
    deviations (`starves`): doubt speaks for it.

    Which noise goes in is said where one is made. Of completions in two windows it is that of counting
    (`Objective.kept_floors`); rows are counted while they are read, so there it is 0. The tuner has seen how rows
    scatter between windows, and puts that in (`serve/tuner/machine/evidence/starving.py`).

    Attributes:
        name: The class, or `ROWS`.
        floor: Share that it must keep (`Objective.floors`).
        kept: Share of what it had under the reference that it has left.
        noise: Standard deviation of the logarithm of that.
        of_class: Whether it is a class.
        expected: Completions that would be counted at the floor; None where nothing is counted so.
    """

    name: str
    floor: float
    kept: float
    noise: float
    of_class: bool = True
    expected: float | None = None

    @property
    def error(self) -> float:
        """Standard error of the share."""
        return self.kept * self.noise

    @property
    def left(self) -> float:
        """What it keeps over what it must."""
        return self.kept / self.floor

    @property
    def headroom(self) -> float:
        """How far it is above its floor, in standard errors."""
        return (self.kept - self.floor) / max(self.error, LEAST_ERROR)

    def stands(self, errors: float) -> bool:
        """Whether it is above its floor by so many standard errors."""
        return self.kept - errors * self.error >= self.floor

    def starves(self, deviations: float) -> bool:
        """Whether it is below its floor, and has fallen by more than so many deviations."""
        return self.kept < self.floor and -math.log(max(self.kept, math.ulp(0.0))) > deviations * self.noise

    def is_in_doubt(self, errors: float) -> bool:
        """Whether it is so near to its floor that by counting it may be on either side.

        Few requests that ended make a share look surer than it is; so the error at the floor itself counts too.
        """
        at_floor = 0.0 if self.expected is None else self.floor / math.sqrt(self.expected + 1.0)
        doubt = errors * max(self.error, at_floor)
        return -RULED_OUT * doubt < self.kept - self.floor < doubt

    def __str__(self) -> str:
        """In words, as the end of a sentence that says what was left."""
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
