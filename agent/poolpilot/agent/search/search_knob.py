"""A knob to search over: a range or a list of values, mapped to 0..1 and back."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from poolpilot.env.knobs import WHOLE_KNOBS, Knob
from poolpilot.errors import SettingError

LOGARITHMIC_FROM = 10.0
"""A range whose ends differ by this factor or more is searched in logarithms unless its values are listed."""


@dataclass(frozen=True, slots=True)
class SearchKnob:
    """A numeric knob with a range, or one with enumerated values.

    Attributes:
        name: Field of `PoolTuple` it sets.
        low: Smallest value.
        high: Largest value.
        logarithmic: Whether equal steps of 0..1 are equal factors; for a range above zero only.
        whole: Whether only whole numbers are values.
        values: The enumerated values, rising; empty for a range.
    """

    name: str
    low: float
    high: float
    logarithmic: bool = False
    whole: bool = False
    values: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise SettingError(f"the range of {self.name} is {self.low:g}..{self.high:g}, but must not fall")
        if self.logarithmic and self.low <= 0.0:
            raise SettingError(f"{self.name} starts at {self.low:g}; a logarithmic range must start above 0")

    @classmethod
    def of(cls, knob: Knob, values: Sequence[float] | None = None) -> Self:
        """Searches the whole range of a server's knob, or the values listed.

        Args:
            knob: The knob of the server.
            values: Values to choose from; the whole range if None.

        Raises:
            SettingError: There is no value in the list, or one is outside the knob's range.
        """
        whole = knob.name in WHOLE_KNOBS
        if values is None:
            logarithmic = knob.low > 0.0 and knob.high / knob.low >= LOGARITHMIC_FROM
            return cls(knob.name, knob.low, knob.high, logarithmic, whole)
        if not values:
            raise SettingError(f"{knob.name} has an empty list of values; name at least one")
        for value in values:
            knob.check(value)
        rising = tuple(sorted(set(values)))
        return cls(knob.name, rising[0], rising[-1], whole=whole, values=rising)

    def encode(self, value: float) -> float:
        """Position of a value in 0..1; enumerated values lie in the middles of equal shares."""
        if self.values:
            nearest = min(range(len(self.values)), key=lambda index: abs(self.values[index] - value))
            return (nearest + 0.5) / len(self.values)
        if self.low == self.high:
            return 0.5
        inside = min(max(value, self.low), self.high)
        if self.logarithmic:
            return math.log(inside / self.low) / math.log(self.high / self.low)
        return (inside - self.low) / (self.high - self.low)

    def decode(self, position: float) -> float:
        """The value at a position in 0..1, snapped to a whole number or an enumerated value where that is asked for."""
        position = min(max(position, 0.0), 1.0)
        if self.values:
            return self.values[min(int(position * len(self.values)), len(self.values) - 1)]
        if self.logarithmic:
            value = self.low * (self.high / self.low) ** position
        else:
            value = self.low + position * (self.high - self.low)
        inside = min(max(value, self.low), self.high)
        return float(min(max(round(inside), math.ceil(self.low)), math.floor(self.high))) if self.whole else inside

    def contains(self, value: float) -> bool:
        """Whether it is one of the values to choose from."""
        if self.values:
            return value in self.values
        return self.low <= value <= self.high and not (self.whole and int(value) != value)
