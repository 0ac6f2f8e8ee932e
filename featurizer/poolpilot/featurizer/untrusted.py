"""Histograms and pool tuples from outside: checked before anything is built from them."""

from dataclasses import replace

from poolpilot.featurizer import refusal
from poolpilot.featurizer.errors import FeatureError
from poolpilot.featurizer.histogram import BUCKETS, Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple

MOST_IN_BUCKET = 2**53
CORE_RANGES = {
    "pool_size": (1, 100_000),
    "oversubscribe": (1, 100_000),
    "timer_interval_ms": (1, 2**32 - 1),
}
OPTIONAL_FIELDS = ("create_thread_on_wait", "idle_timeout_s")
IDLE_TIMEOUT_RANGE_S = (1e-3, float(2**32 - 1))


def latency(field: str, value: object) -> Histogram:
    """Checks and builds a histogram from [bucket, count] pairs in rising order of bucket.

    Raises:
        FeatureError: It is no list, or a pair is malformed, out of range or out of order.
    """
    if not isinstance(value, list) or len(value) > BUCKETS:
        text = f"{field} is {refusal.shown(value)}; allowed is a list of at most {BUCKETS} [bucket, count] pairs"
        raise FeatureError(field, text)
    pairs: list[tuple[int, int]] = []
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            raise FeatureError(field, f"{field} holds {refusal.shown(pair)}; allowed are [bucket, count] pairs")
        least = pairs[-1][0] + 1 if pairs else 0
        bucket = refusal.integer(f"{field}.bucket", pair[0], least, BUCKETS - 1)
        pairs.append((bucket, refusal.integer(f"{field}.count", pair[1], 1, MOST_IN_BUCKET)))
    return Histogram.from_sparse(pairs)


def pool_tuple(value: object) -> PoolTuple:
    """Checks and builds a pool tuple; what may be left out takes its default.

    The ranges are as wide as any server's; whether a server allows the tuple is for its knobs to say.

    Raises:
        FeatureError: A field is missing, unknown, of another type or out of its range.
    """
    given = refusal.named("pool_tuple", value, tuple(CORE_RANGES), OPTIONAL_FIELDS)
    core = {name: refusal.integer(f"pool_tuple.{name}", given[name], *CORE_RANGES[name]) for name in CORE_RANGES}
    default = PoolTuple.from_dict(core)
    flag = given.get("create_thread_on_wait", default.create_thread_on_wait)
    if not isinstance(flag, bool):
        field = "pool_tuple.create_thread_on_wait"
        raise FeatureError(field, f"{field} is {refusal.shown(flag)}; allowed is true or false")
    idle = given.get("idle_timeout_s", default.idle_timeout_s)
    idle_timeout_s = refusal.number("pool_tuple.idle_timeout_s", idle, *IDLE_TIMEOUT_RANGE_S, "s")
    return replace(default, create_thread_on_wait=flag, idle_timeout_s=idle_timeout_s)
