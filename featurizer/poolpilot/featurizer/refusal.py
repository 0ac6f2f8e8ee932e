"""Checks of untrusted JSON values; a refusal names the field, what came and what is allowed."""

import reprlib
from collections.abc import Collection, Mapping
from typing import Any

from poolpilot.featurizer.errors import FeatureError

LONGEST_NAME = 64
"""Field names from outside are cut to this many characters in a message."""

WIDEST_INT = 2**63


def shown(value: object) -> str:
    """A value from outside, short enough for a message whatever came."""
    if isinstance(value, int) and abs(value) >= WIDEST_INT:
        return f"an integer of {value.bit_length()} bits"
    return reprlib.repr(value) if isinstance(value, int | float | str | None) else f"a {type(value).__name__}"


def number(field: str, value: object, low: float, high: float, unit: str = "") -> float:
    """Returns a finite number within a range.

    Raises:
        FeatureError: It is no number, not finite or outside low..high.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        suffix = f" {unit}" if unit else ""
        raise FeatureError(field, f"{field} is {shown(value)}; allowed is a number from {low:g} to {high:g}{suffix}")
    return float(value)


def integer(field: str, value: object, low: int, high: int) -> int:
    """Returns an integer within a range.

    Raises:
        FeatureError: It is no integer or outside low..high.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise FeatureError(field, f"{field} is {shown(value)}; allowed is an integer from {low} to {high}")
    return value


def mapping(field: str, value: object) -> Mapping[str, Any]:
    """Returns a JSON object, whatever its names.

    Raises:
        FeatureError: It is no object.
    """
    if not isinstance(value, Mapping):
        raise FeatureError(field, f"{field} is {shown(value)}; allowed is an object")
    return value


def named(field: str, value: object, names: Collection[str], optional: Collection[str] = ()) -> Mapping[str, Any]:
    """Returns a JSON object that has all of `names` and nothing but these and `optional`.

    Raises:
        FeatureError: It is no object, or a name is missing or unknown.
    """
    value = mapping(field, value)
    for name in value:
        if name not in names and name not in optional:
            where = str(name)[:LONGEST_NAME]
            raise FeatureError(where, f"{field} has an unknown field {where!r}; remove it")
    for name in names:
        if name not in value:
            raise FeatureError(name, f"{field} lacks the field {name!r}; add it")
    return value
