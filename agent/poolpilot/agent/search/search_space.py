"""The space of tuples to search: the knobs that vary, mapped to 0..1 and back, and why others asked for do not."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.knobs import WHOLE_KNOBS, Knob, KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

LOGARITHMIC_FROM = 10.0
"""A range whose ends differ by this factor or more is searched in logarithms unless its values are listed."""

MOST_DRAWS = 1000
"""Draws after which a server counts as one that has threads for hardly anything of a space."""


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
        whole = knob.whole
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


NEEDS_RESTART = "needs a restart"
OF_SESSIONS = "each session holds its own value"


@dataclass(frozen=True)
class SearchSpace:
    """Tuples as points of the unit cube, one axis for each knob that varies.

    Attributes:
        knobs: The knobs that vary, in the order of the axes.
        in_force: Tuple whose other knobs are kept.
        held: Why a knob that was asked for does not vary, by name.
        restart_knobs: Knobs that vary and take a restart.
        server: Says what it has threads for; None for all of the space.
    """

    knobs: tuple[SearchKnob, ...]
    in_force: PoolTuple
    held: Mapping[str, str]
    restart_knobs: tuple[str, ...] = ()
    server: KnobSpace | None = None

    @classmethod
    def of(
        cls,
        knobs: KnobSpace,
        names: Sequence[str],
        choices: Mapping[str, Sequence[float]] | None,
        in_force: PoolTuple,
        *,
        allow_restart: bool = False,
    ) -> Self:
        """Chooses knobs of a server.

        Args:
            knobs: The knobs of the server and their ranges.
            names: Knobs to vary.
            choices: Values to choose from, by knob; the whole range of those not named.
            in_force: The tuple in force.
            allow_restart: Whether knobs may vary that take a restart.

        Raises:
            SettingError: A name is unknown or twice there, a choice is outside its range, or no knob is left to vary.
        """
        listed = dict(choices or {})
        for name in (*names, *listed):
            if name not in knobs.knobs:
                raise SettingError(f"this server has no knob {name!r}; it has {', '.join(knobs.knobs)}")
        if len(set(names)) < len(names) or not set(listed) <= set(names):
            raise SettingError("name every knob to vary once, and list values only for knobs that vary")
        asked = [knobs.knobs[name] for name in names]
        held = {knob.name: reason for knob in asked if (reason := _why_held(knob, allow_restart)) is not None}
        varied = [knob for knob in asked if knob.name not in held]
        if not varied:
            shown = "; ".join(f"{name} {reason}" for name, reason in held.items()) or "none was named"
            raise SettingError(f"there is no knob to vary: {shown}")
        restart_knobs = tuple(knob.name for knob in varied if knob.restart_only)
        searched = tuple(SearchKnob.of(knob, listed.get(knob.name)) for knob in varied)
        return cls(searched, in_force, held, restart_knobs, knobs)

    def __len__(self) -> int:
        return len(self.knobs)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the knobs that vary, in the order of the axes."""
        return tuple(knob.name for knob in self.knobs)

    def encode(self, pool_tuple: PoolTuple) -> NDArray[np.float64]:
        """The point of a tuple, (d,); what does not vary is not seen."""
        return np.array([knob.encode(getattr(pool_tuple, knob.name)) for knob in self.knobs])

    def encode_all(self, tuples: Sequence[PoolTuple]) -> NDArray[np.float64]:
        """The points of many tuples, (n, d)."""
        return np.array([self.encode(pool_tuple) for pool_tuple in tuples]).reshape(len(tuples), len(self))

    def decode(self, point: NDArray[np.float64]) -> PoolTuple:
        """The tuple at a point (d,), with whole numbers and enumerated values snapped."""
        values: dict[str, Any] = {
            knob.name: _typed(knob.name, knob.decode(float(position)))
            for knob, position in zip(self.knobs, point, strict=True)
        }
        return replace(self.in_force, **values)

    def draw(self, rng: np.random.Generator) -> PoolTuple:
        """A tuple drawn at random, uniform over what the server has threads for of the unit cube.

        Raises:
            SettingError: That is hardly anything.
        """
        for _ in range(MOST_DRAWS):
            drawn = self.decode(rng.random(len(self)))
            if self.server is None or self.server.has_threads_for(drawn):
                return drawn
        assert self.server is not None
        raise SettingError(
            f"the server has threads for hardly anything of what is searched: {drawn} may ask for "
            f"{drawn.active_threads} at work, and there are {self.server.most_threads}; search smaller sizes"
        )

    def contains(self, pool_tuple: PoolTuple) -> bool:
        """Whether every knob that varies has a value to choose from."""
        return all(knob.contains(getattr(pool_tuple, knob.name)) for knob in self.knobs)

    def with_held(self, pool_tuple: PoolTuple, in_force: PoolTuple) -> PoolTuple:
        """A tuple in the knobs that vary, `in_force` in all others."""
        varied: dict[str, Any] = {name: getattr(pool_tuple, name) for name in self.names}
        return replace(in_force, **varied)

    def needs_restart(self, old: PoolTuple, new: PoolTuple) -> bool:
        """Whether the server must be restarted to go from one tuple to the other."""
        return any(getattr(old, name) != getattr(new, name) for name in self.restart_knobs)


def _why_held(knob: Knob, allow_restart: bool) -> str | None:
    if knob.per_session:
        return OF_SESSIONS
    return NEEDS_RESTART if knob.restart_only and not allow_restart else None


def _typed(name: str, value: float) -> bool | int | float:
    if name == "create_thread_on_wait":
        return bool(value)
    return int(value) if name in WHOLE_KNOBS else value
