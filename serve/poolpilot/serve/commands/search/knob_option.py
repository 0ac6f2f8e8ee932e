"""A knob as the user names it: its whole range, a part of it, or values to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple


@dataclass(frozen=True, slots=True)
class KnobOption:
    """One knob to vary.

    Attributes:
        name: Field of `PoolTuple` it sets.
        values: Values to choose from; empty for a range.
        limits: Lowest and highest value; None for the whole range of the server.
    """

    name: str
    values: tuple[float, ...] = ()
    limits: tuple[float, float] | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads NAME, NAME=LOW..HIGH or NAME=VALUE,VALUE.

        Raises:
            SettingError: It is none of these.
        """
        name, given, rest = text.partition("=")
        low, ranged, high = rest.partition("..")
        try:
            if not given:
                return cls(name)
            if ranged:
                return cls(name, limits=(float(low), float(high)))
            return cls(name, values=tuple(float(value) for value in rest.split(",")))
        except ValueError as error:
            raise SettingError(
                f"a knob is named as NAME, NAME=LOW..HIGH or NAME=1,2,4, all of them numbers; this is {text!r}"
            ) from error


def space_of(options: Sequence[KnobOption], knobs: KnobSpace, in_force: PoolTuple) -> SearchSpace:
    """The space of the knobs named.

    Args:
        options: The knobs.
        knobs: Those of the server.
        in_force: The tuple in force.

    Raises:
        SettingError: A knob is unknown or named twice, a value is outside its range, or nothing is left to vary.
    """
    names = [one.name for one in options]
    choices = {one.name: one.values for one in options if one.values}
    space = SearchSpace.of(_narrowed(knobs, options), names, choices, in_force)
    if all(knob.low == knob.high for knob in space.knobs):
        values = ", ".join(f"{knob.name} {knob.low:g}" for knob in space.knobs)
        raise SettingError(f"there is nothing to search among: {values} alone; name a range or more values")
    return space


def _narrowed(knobs: KnobSpace, options: Sequence[KnobOption]) -> KnobSpace:
    """The knobs of a server within the ranges asked for; unknown names are left for the space to refuse."""
    narrowed = dict(knobs.knobs)
    for one in options:
        if one.limits is None or one.name not in narrowed:
            continue
        knob = narrowed[one.name]
        for value in one.limits:
            knob.check(value)
        low, high = one.limits
        narrowed[one.name] = replace(knob, low=low, high=high)
    return replace(knobs, knobs=narrowed)


def range_of(space: SearchSpace) -> dict[str, str]:
    """What each knob that varies is chosen from, as text, by name."""
    return {
        knob.name: ", ".join(f"{value:g}" for value in knob.values) if knob.values else f"{knob.low:g}..{knob.high:g}"
        for knob in space.knobs
    }
