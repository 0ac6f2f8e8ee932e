"""Whether the pool itself is well, saturated or stuck, and what limits it."""

from collections import Counter
from collections.abc import Iterator

from poolpilot.env.mariadb.diagnosis.facts import Facts
from poolpilot.env.mariadb.diagnosis.finding import Finding, Severity
from poolpilot.env.mariadb.diagnosis.pool_reading import ThreadGroup

USED_UP = 0.85
"""Share of its processors from which on a server has none left to give."""

ALL_BUSY = 0.1
"""Processors of the whole machine that may be idle where nobody finds one."""

TICKS = 2
"""Ticks of the pool's timer after which a group with a queue has had another thread, if it may have one at all."""

SLOW_S = 0.05
"""Seconds in the queue from which on people notice; less is told, but is no cause for alarm."""

FEW_GROUPS = 0.5
"""Share of the groups; a queue in fewer of them comes from an uneven share of the connections."""

MOST_SHOWN = 5
LARGEST_MAX_THREADS = 65_536


def pool_finding(facts: Facts) -> Finding:
    """What the pool is: stuck, saturated or fine."""
    standing = standing_groups(facts)
    if standing:
        return _stuck(facts, standing)
    return _saturated(facts) if is_saturated(facts) else _fine(facts)


def standing_groups(facts: Facts) -> tuple[ThreadGroup, ...]:
    """Groups that took nothing up between the looks though something waited, and that cannot get another thread.

    A group that has threads left, or only waits for a tick of the pool's timer to get one, does not stand; neither
    does one whose statements use the processors up.
    """
    ticked = facts.span_s > TICKS * facts.limits.stall_limit_ms / 1000.0
    if not (facts.is_exhausted or ticked):
        return ()
    first = facts.before.by_number
    return tuple(
        group
        for group in facts.after.groups
        if (before := first.get(group.number)) is not None
        and before.dequeued == group.dequeued
        and _waits_for_threads(facts, before)
        and _waits_for_threads(facts, group)
    )


def _waits_for_threads(facts: Facts, group: ThreadGroup) -> bool:
    if group.stands:
        return group.queued > 0 or facts.is_exhausted
    return group.queued > 0 and not group.standby and used_up(facts) is False


def is_saturated(facts: Facts) -> bool:
    """Whether more requests wait for a thread than are served, and for each group one at least."""
    return facts.mean_queued > facts.mean_served and facts.mean_queued >= facts.limits.size


def used_up(facts: Facts) -> bool | None:
    """Whether the server has no processor left, its own or its machine's; None where that cannot be seen."""
    if facts.server_share is None:
        return None
    return facts.server_share >= USED_UP or (facts.idle_cpus is not None and facts.idle_cpus <= ALL_BUSY)


def _stuck(facts: Facts, standing: tuple[ThreadGroup, ...]) -> Finding:
    queued = sum(group.queued for group in standing)
    deaf = sum(not group.has_listener for group in standing)
    what = f"{queued} requests queue" if queued else "no thread listens for what clients send"
    why = (
        f"it has all {facts.after.threads} threads that thread_pool_max_threads = {facts.limits.most_threads} allows"
        if facts.is_exhausted
        else "it gets no more threads though it may have more: see the server's error log"
    )
    evidence = [*_holders_of_threads(facts)]
    if deaf:
        evidence.append(
            f"{deaf} of these groups have no listener: what their clients send, a COMMIT too, is not even taken in"
        )
    if logins := sum(not request.connection for request in facts.after.queue):
        evidence.append(f"{logins} logins wait in the queue")
    return Finding(
        "stuck",
        Severity.CRITICAL,
        f"the pool is stuck: in {len(standing)} of {facts.limits.size} groups {what} and nothing was taken up within "
        f"{facts.span_s:.1f} s; {why}, and all of these groups are held by statements that wait",
        tuple(evidence),
        tuple(_ways_out(facts, standing)),
    )


def _holders_of_threads(facts: Facts) -> Iterator[str]:
    """What the sessions do whose statements hold threads, the most frequent first."""
    doing = Counter(
        f"{one.kind or one.command} ({one.state or 'executing'})" for one in facts.sessions if not one.is_idle
    )
    for what, number in doing.most_common(MOST_SHOWN):
        yield f"{number} session{'s' if number > 1 else ''} in {what}"
    if not doing:
        waiting = sum(max(one.threads - one.active - one.standby, 0) for one in facts.after.groups)
        yield f"{waiting} threads wait; in which statements cannot be seen without PROCESS"


def _ways_out(facts: Facts, standing: tuple[ThreadGroup, ...]) -> Iterator[str]:
    """What frees a stuck pool; on the extra port, since no other login gets through."""
    if facts.is_exhausted and facts.limits.most_threads < LARGEST_MAX_THREADS:
        yield f"SET GLOBAL thread_pool_max_threads = {enough_threads(facts)};"
        yield (
            "the pool's timer then makes a thread for every group with a queue; keep that value in my.cnf, at least as "
            "many as sessions may wait at once"
        )
    numbers = {group.number for group in standing}
    held = [one for one in facts.sessions if not one.is_idle and one.number % facts.limits.size in numbers]
    if held:
        longest = max(held, key=lambda one: one.since_s)
        yield f"KILL QUERY {longest.number};"
        what = f"{longest.kind or longest.command}, {longest.since_s:.0f} s"
        yield f"ends the statement of {longest} ({what}), whose thread then serves the queue"
    if facts.after.row_waits:
        yield f"left alone, a wait for a row ends after innodb_lock_wait_timeout = {facts.limits.row_wait_s} s"


def enough_threads(facts: Facts) -> int:
    """A limit on threads that lets every connection have one, and every group a listener: then nobody starves.

    Fewer could go to those who would only wait as well; no more threads are made than sessions wait at once.
    """
    connections = sum(group.connections for group in facts.after.groups)
    return min(max(2 * facts.limits.most_threads, connections + 2 * facts.limits.size), LARGEST_MAX_THREADS)


def _saturated(facts: Facts) -> Finding:
    waits_s = facts.queueing_s
    long = "longer than this look" if waits_s is None else f"{1000.0 * waits_s:.0f} ms each"
    why, remedies = _limit(facts)
    return Finding(
        "saturated",
        Severity.NOTICE if waits_s is not None and waits_s < SLOW_S else Severity.WARNING,
        f"the pool is saturated: {facts.mean_queued:.0f} requests queue on average, {long}, while "
        f"{facts.mean_served:.0f} are served and {facts.dequeued / facts.span_s:.0f} a second are taken up; {why}",
        tuple(_load(facts)),
        remedies,
    )


def _limit(facts: Facts) -> tuple[str, tuple[str, ...]]:
    """What limits a saturated pool, and what betters that."""
    used = used_up(facts)
    if used:
        return "the processors are used up", (
            "more threads would not help: fewer or cheaper statements, or more processors",
            "poolpilot advise says whether another configuration spends the processors better",
        )
    if facts.is_exhausted:
        most = facts.limits.most_threads
        return f"thread_pool_max_threads = {most} is reached", (
            f"SET GLOBAL thread_pool_max_threads = {enough_threads(facts)};",
        )
    crowded = [group for group in facts.after.groups if group.queued]
    limit = 1 + facts.limits.oversubscribe
    if crowded and all(group.active >= limit for group in crowded):
        why = f"every group with a queue has its 1 + oversubscribe = {limit} threads at work"
        remedy = "a larger thread_pool_size or thread_pool_oversubscribe lets more run; poolpilot advise names one"
    elif crowded and len(crowded) < FEW_GROUPS * facts.limits.size:
        why = f"the queue is in {len(crowded)} of {facts.limits.size} groups only"
        remedy = "connections are dealt out by their numbers; more groups even them out: a larger thread_pool_size"
    else:
        why = "threads are made or woken more slowly than requests come"
        remedy = "a shorter thread_pool_stall_limit, below 500 ms, makes threads sooner; poolpilot advise names one"
    if used is None:
        return f"{why}; whether the processors are used up cannot be seen from here", (remedy,)
    return f"processors idle while requests queue, and {why}", (remedy,)


def _fine(facts: Facts) -> Finding:
    if facts.dequeued == 0 and not facts.mean_queued:
        text = (
            f"the pool is fine: it has {facts.after.threads} threads, and no request came within {facts.span_s:.1f} s"
        )
    else:
        text = (
            f"the pool is fine: {facts.dequeued / facts.span_s:.0f} requests a second are taken up, "
            f"{facts.mean_queued:.1f} queue on average"
        )
    return Finding("fine", Severity.FINE, text, tuple(_load(facts)))


def _load(facts: Facts) -> Iterator[str]:
    """How much of what it may use the server uses."""
    if facts.server_share is not None:
        yield f"the server uses {100.0 * facts.server_share:.0f} % of its {facts.cpus} processors"
    yield (
        f"{facts.after.threads} threads in {facts.limits.size} groups, of {facts.limits.most_threads} at most; "
        f"{facts.mean_served:.1f} at work or waiting in statements on average"
    )
