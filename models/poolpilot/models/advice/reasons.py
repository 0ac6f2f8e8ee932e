"""Why a tuple suits a workload, in sentences a DBA understands, read off the features of a window."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

BELIEVABLE_FACTOR = 10.0
"""Gains beyond this factor are told in words: where next to nothing gets through, nobody knows how much more would."""

LEAST_SAID = 0.005
"""A gain below this is none in words: it would be rounded to 0 %."""

MOST_REASONS = 3
"""Sentences given; the limits below only decide which are worth saying, never the tuple."""

MUCH_SILENT_WAITING = 0.3
MANY_WAITERS = 0.5
BUSY = 0.85
IDLE = 0.6
MUCH_RUN_DELAY = 0.2
LONG_OVER_SHORT = 5.0
LONG_US = 2000.0
QUEUEING = 1.0


@dataclass(frozen=True, slots=True)
class Change:
    """Directions in which a tuple differs from the one in force: -1, 0 or 1 each."""

    groups: int
    oversubscribe: int
    timer: int

    @classmethod
    def between(cls, in_force: PoolTuple, chosen: PoolTuple) -> "Change":
        """The directions from one tuple to another."""
        signs = [(new > old) - (new < old) for old, new in zip(in_force.core, chosen.core, strict=True)]
        return cls(*signs)


def percent(gain: float) -> str:
    """A difference of J as a signed percentage of goodput, as far as that can be believed."""
    return f"{factor(gain)} times" if _is_beyond_belief(gain) else f"{100.0 * math.expm1(gain):+.0f} %"


def gain_in_words(expected: float | None, low: float | None = None, high: float | None = None) -> str:
    """A gain in J with its interval, if there is one, in requests that are answered in time."""
    if expected is None:
        return "not estimated"
    manifold = expected >= math.log(2.0)
    gained = f"{factor(expected)} times the requests in time" if manifold else f"{percent(expected)} requests in time"
    loses = ", but it may also lose" if low is not None and low < 0.0 else ""
    hardly = ": almost nothing gets through in time today" if _is_beyond_belief(expected) else ""
    return f"{gained}{loses}{_interval(low, high, manifold)}{hardly}"


def at_most_in_words(most_gain: float) -> str:
    """The most that can be gained, in ln goodput, as a sentence."""
    if math.expm1(most_gain) < LEAST_SAID:
        return "nothing can be gained here"
    return f"at most {percent(most_gain).removeprefix('+')} can be gained here"


def factor(gain: float) -> str:
    """A difference of J as a factor, as far as that can be believed."""
    return f"more than {BELIEVABLE_FACTOR:.0f}" if _is_beyond_belief(gain) else f"{math.exp(gain):.1f}"


def percentage(share: float) -> str:
    """A share 0..1 as a percentage."""
    return f"{100.0 * share:.0f} %"


def reasons_for(window: Window, chosen: PoolTuple) -> tuple[str, ...]:
    """Sentences that explain the way from the window's tuple to `chosen`, the strongest evidence first."""
    features = {name: value for name, value in window.profile.features.items() if value is not None}
    change = Change.between(window.pool_tuple, chosen)
    found = [*_about_groups(features, change), *_about_long_requests(features, change)]
    if not found:
        found = ["workloads that respond like this one ran best under this configuration"]
    return tuple(found[:MOST_REASONS])


def _interval(low: float | None, high: float | None, manifold: bool) -> str:
    if low is None or high is None:
        return ""
    ends = [factor(end) if manifold else percent(end) for end in (low, high)]
    return "" if ends[0] == ends[1] else f" ({' to '.join(ends)}{' times' if manifold else ''})"


def _is_beyond_belief(gain: float) -> bool:
    return gain > math.log(BELIEVABLE_FACTOR)


def _about_groups(features: Mapping[str, float], change: Change) -> list[str]:
    if change.groups > 0:
        return _for_more_groups(features)
    if change.groups < 0:
        return _for_fewer_groups(features)
    return _for_the_same_groups(features)


def _for_more_groups(features: Mapping[str, float]) -> list[str]:
    found = []
    silent = features.get("silent_wait_share", 0.0)
    used = features.get("utilisation", 1.0)
    queued = features.get("queue_length_mean", features.get("queue_length", 0.0))
    if silent > MUCH_SILENT_WAITING and latch_waiters(features) < MANY_WAITERS:
        off_cpu = f"workers spend {percentage(silent)} of a round off the CPU without telling the pool"
        found.append(f"{off_cpu}, so more groups can run")
    if used < IDLE:
        found.append(f"the CPU is only {percentage(used)} used, so there is room for more groups")
    if queued > QUEUEING:
        found.append(f"{queued:.1f} requests wait in the queue, so more groups serve them sooner")
    return found


def _for_fewer_groups(features: Mapping[str, float]) -> list[str]:
    found = []
    waiters = latch_waiters(features)
    delay = features.get("run_delay_share_of_round", 0.0)
    queued = features.get("queue_length_mean", features.get("queue_length", QUEUEING))
    if waiters > MANY_WAITERS:
        found.append(f"{waiters:.1f} threads wait for a latch on average, so fewer groups collide less")
    if delay > MUCH_RUN_DELAY:
        found.append(f"workers spend {percentage(delay)} of a round waiting for a CPU, so fewer groups switch less")
    if _cpu_is_busy(features):
        found.append(f"{_busy_cpu(features)}, so fewer groups do the same work with fewer threads")
    elif queued < QUEUEING:
        found.append("hardly any request waits in the queue, so fewer groups do the same work")
    return found


def _for_the_same_groups(features: Mapping[str, float]) -> list[str]:
    if _cpu_is_busy(features):
        return [f"{_busy_cpu(features)}, so more groups would only take turns"]
    return []


def _about_long_requests(features: Mapping[str, float], change: Change) -> list[str]:
    short_us, long_us = features.get("active_round_us_p50", 0.0), features.get("active_round_us_p95", 0.0)
    mixed = long_us > LONG_US and long_us > LONG_OVER_SHORT * short_us
    if not mixed or max(change.groups, change.oversubscribe, -change.timer) <= 0:
        return []
    remedies = []
    if change.oversubscribe > 0:
        remedies.append("a group may run more of them side by side")
    if change.timer < 0:
        remedies.append("a blocked group is noticed sooner")
    outcome = " and ".join(remedies) or "more groups keep them apart"
    return [f"long requests (p95 {long_us / 1e3:.3g} ms) block short ones (median {short_us / 1e3:.2g} ms); {outcome}"]


def _cpu_is_busy(features: Mapping[str, float]) -> bool:
    return features.get("utilisation", 0.0) > BUSY


def _busy_cpu(features: Mapping[str, float]) -> str:
    used = f"the CPU is {percentage(min(features['utilisation'], 1.0))} used"
    request_us = features.get("process_cpu_us_per_request")
    return used if request_us is None else f"{used} by requests of {request_us / 1e3:.2g} ms"


def latch_waiters(features: Mapping[str, float]) -> float:
    """Threads waiting for a latch on average: Little's law over latch waits."""
    return features.get("latch_wait_us_per_request", 0.0) * features.get("completed_per_s", 0.0) * 1e-6
