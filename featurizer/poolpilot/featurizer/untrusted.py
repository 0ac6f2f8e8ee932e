"""Checks of untrusted JSON values; a refusal names the field, what came and what is allowed."""

import reprlib
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from poolpilot.errors import FeatureError
from poolpilot.featurizer.histogram import BUCKETS, Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple

Choice = TypeVar("Choice", bound=str)

LONGEST_NAME = 64
"""Field names from outside are cut to this many characters in a message."""

WINDOW = "window"
"""What a sentence calls the value that all fields are in."""

WIDEST_INT = 2**63

MOST_IN_BUCKET = 2**53
CORE_RANGES = {
    "pool_size": (1, 100_000),
    "oversubscribe": (1, 100_000),
    "timer_interval_ms": (1, 2**32 - 1),
}
OPTIONAL_FIELDS = ("create_thread_on_wait", "idle_timeout_s")
IDLE_TIMEOUT_RANGE_S = (1e-3, float(2**32 - 1))


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
    if type(value) is float and low <= value <= high:
        return value
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


def one_of(field: str, value: object, allowed: Collection[Choice]) -> Choice:
    """Returns one of some texts.

    Raises:
        FeatureError: It is none of them.
    """
    for choice in allowed:
        if value == choice:
            return choice
    raise FeatureError(field, f"{field} is {shown(value)}; allowed is one of {', '.join(allowed)}")


def mapping(field: str, value: object) -> Mapping[str, Any]:
    """Returns a JSON object, whatever its names; the field of the window itself is empty.

    Raises:
        FeatureError: It is no object.
    """
    if not isinstance(value, Mapping):
        raise FeatureError(field, f"{field or WINDOW} is {shown(value)}; allowed is an object")
    return value


def within(*fields: str) -> str:
    """The path that leads through some fields, of which an empty one is no step."""
    return ".".join(field for field in fields if field)


def named(field: str, value: object, names: Collection[str], optional: Collection[str] = ()) -> Mapping[str, Any]:
    """Returns a JSON object that has all of `names` and nothing but these and `optional`.

    Raises:
        FeatureError: It is no object, or a name is missing or unknown.
    """
    value = mapping(field, value)
    if len(value) == len(names) and all(map(value.__contains__, names)):
        return value
    needed = {*names}
    if needed <= value.keys() <= needed.union(optional):
        return value
    for name in value:
        if name not in names and name not in optional:
            cut = str(name)[:LONGEST_NAME]
            raise FeatureError(within(field, cut), f"{field or WINDOW} has an unknown field {cut!r}; remove it")
    for name in names:
        if name not in value:
            raise FeatureError(within(field, name), f"{field or WINDOW} lacks the field {name!r}; add it")
    return value


def latency(field: str, value: object) -> Histogram:
    """Checks and builds a histogram from [bucket, count] pairs in rising order of bucket.

    Raises:
        FeatureError: It is no list, or a pair is malformed, out of range or out of order.
    """
    if not isinstance(value, list) or len(value) > BUCKETS:
        text = f"{field} is {shown(value)}; allowed is a list of at most {BUCKETS} [bucket, count] pairs"
        raise FeatureError(field, text)
    pairs: list[tuple[int, int]] = []
    least = 0
    for pair in value:
        if type(pair) is not list or len(pair) != 2:
            raise FeatureError(field, f"{field} holds {shown(pair)}; allowed are [bucket, count] pairs")
        bucket, count = pair
        if type(bucket) is not int or not least <= bucket < BUCKETS:
            bucket = integer(f"{field}.bucket", bucket, least, BUCKETS - 1)
        if type(count) is not int or not 1 <= count <= MOST_IN_BUCKET:
            count = integer(f"{field}.count", count, 1, MOST_IN_BUCKET)
        pairs.append((bucket, count))
        least = bucket + 1
    return Histogram.from_sparse(pairs)


def pool_tuple(value: object) -> PoolTuple:
    """Checks and builds a pool tuple; what may be left out takes its default.

    The ranges are as wide as any server's; whether a server allows the tuple is for its knobs to say.

    Raises:
        FeatureError: A field is missing, unknown, of another type or out of its range.
    """
    given = named("pool_tuple", value, tuple(CORE_RANGES), OPTIONAL_FIELDS)
    size, threads, timer = (integer(f"pool_tuple.{name}", given[name], *CORE_RANGES[name]) for name in CORE_RANGES)
    default = PoolTuple(size, threads, timer)
    flag = given.get("create_thread_on_wait", default.create_thread_on_wait)
    if not isinstance(flag, bool):
        field = "pool_tuple.create_thread_on_wait"
        raise FeatureError(field, f"{field} is {shown(flag)}; allowed is true or false")
    idle = given.get("idle_timeout_s", default.idle_timeout_s)
    idle_timeout_s = number("pool_tuple.idle_timeout_s", idle, *IDLE_TIMEOUT_RANGE_S, "s")
    return PoolTuple(*default.core, create_thread_on_wait=flag, idle_timeout_s=idle_timeout_s)
