"""Groups of the pool that took nothing up: those that get no thread any more, and those that wait for the timer."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.judgement.quota_finding import is_quota_used_up
from poolpilot.mariadb.diagnosis.pool_reading import PoolReading, ThreadGroup

USED_UP = 0.85
"""Share of its processors from which on a server has none left to give."""

ALL_BUSY = 0.1
"""Processors of the whole machine that may be idle where nobody finds one."""

TICKS = 2
"""Ticks of the pool's timer after which a group that lacks a thread has had one, if it may have one at all."""


@dataclass(frozen=True, slots=True)
class HeldGroup:
    """A group whose threads were held while others may have waited for them.

    Attributes:
        group: The group as it was at the end.
        held_s: For how long it took nothing up, in seconds, as far as the readings saw it.
    """

    group: ThreadGroup
    held_s: float


def used_up(facts: Facts) -> bool | None:
    """Whether the server has no processor left, its own or its machine's; None where that cannot be seen."""
    if is_quota_used_up(facts):
        return True
    if facts.server_share is None:
        return None
    return facts.server_share >= USED_UP or (facts.idle_cpus is not None and facts.idle_cpus <= ALL_BUSY)


def stuck_groups(facts: Facts) -> tuple[ThreadGroup, ...]:
    """Groups that took nothing up between the readings though they lacked a thread, and that cannot get another.

    A group that has threads left, or only waits for a tick of the pool's timer to get one, does not stand; neither
    does one that could have more threads and whose statements use the processors up.
    """
    if not (facts.is_exhausted or facts.span_s > TICKS * facts.limits.stall_limit_s):
        return ()
    first = facts.before.by_number
    return tuple(
        group
        for group in facts.after.groups
        if (before := first.get(group.number)) is not None
        and before.dequeued == group.dequeued
        and _gets_no_thread(facts, before)
        and _gets_no_thread(facts, group)
    )


def _gets_no_thread(facts: Facts, group: ThreadGroup) -> bool:
    if group.standby or not group.lacks_a_thread:
        return False
    # Without a listener, but with threads to be had, the timer makes one at its next tick.
    return facts.is_exhausted or (group.queued > 0 and (not group.active or used_up(facts) is False))


def held_until_timer(facts: Facts) -> Iterator[HeldGroup]:
    """Groups that took nothing up for a while and could only get a thread from the pool's timer.

    Where a thread runs and reports no wait, nobody but the timer gives its group another, at a tick of the stall limit.
    """
    for group in facts.after.groups:
        seen = [(one.at_s, one.by_number[group.number]) for one in facts.readings if _has(one, group)]
        held_s = longest_s = 0.0
        for (early_s, early), (late_s, late) in pairwise(seen):
            goes_on = early.awaits_timer and late.awaits_timer and early.dequeued == late.dequeued
            held_s = held_s + late_s - early_s if goes_on else 0.0
            longest_s = max(longest_s, held_s)
        if longest_s:
            yield HeldGroup(group, longest_s)


def _has(reading: PoolReading, group: ThreadGroup) -> bool:
    return group.number in reading.by_number
