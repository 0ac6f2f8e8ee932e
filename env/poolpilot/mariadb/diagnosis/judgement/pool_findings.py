"""Whether the pool itself serves, is saturated or stuck, and what limits it."""

from collections.abc import Iterator

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Finding, Severity
from poolpilot.mariadb.diagnosis.judgement.held_groups import stuck_groups, used_up
from poolpilot.mariadb.diagnosis.judgement.stuck_finding import enough_threads, stuck
from poolpilot.mariadb.diagnosis.judgement.timer_finding import timer_finding
from poolpilot.mariadb.host.quota_periods import cpus_in_words

SLOW_S = 0.05
"""Seconds in the queue from which on people notice; less is told, but is no cause for alarm."""

LONG_QUEUEING_S = 0.5
"""Seconds in the queue from which on a pool is saturated however few queue: the stock timer comes as often."""

FEW_GROUPS = 0.5
"""Share of the groups; a queue in fewer of them comes from an uneven share of the connections."""


def pool_finding(facts: Facts) -> Finding:
    """What the pool is: stuck, waiting for its timer, saturated or fine; or that nothing was seen to be served."""
    if standing := stuck_groups(facts):
        return stuck(facts, standing)
    if waits := timer_finding(facts):
        return waits
    if is_saturated(facts):
        return _saturated(facts)
    return _fine(facts) if facts.ended else _unjudged(facts)


def is_saturated(facts: Facts) -> bool:
    """Whether more requests wait for a thread than are served, for each group one at least; or one waits for long."""
    if facts.mean_queued > facts.mean_served and facts.mean_queued >= facts.limits.size:
        return True
    return facts.mean_queued >= 1.0 and facts.queueing_s is not None and facts.queueing_s >= LONG_QUEUEING_S


def _saturated(facts: Facts) -> Finding:
    waits_s = facts.queueing_s
    long = "longer than this observation" if waits_s is None else f"{1000.0 * waits_s:.0f} ms each"
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
    text = (
        f"the pool is fine: {facts.dequeued / facts.span_s:.0f} requests a second are taken up, "
        f"{facts.mean_queued:.1f} queue on average"
    )
    return Finding("fine", Severity.FINE, text, tuple(_load(facts)))


def _unjudged(facts: Facts) -> Finding:
    """Nothing was seen to be served: an idle server, or statements that all lasted longer than the observation."""
    held = facts.held_by(facts.after.groups, facts.span_s)
    running = f"{len(held)} run, the longest for {held[0].since_s:.0f} s" if held else "none was sent"
    if not held and facts.mean_served >= 1.0:
        running = f"{facts.mean_served:.0f} threads are at work or wait"
    return Finding(
        "unjudged",
        Severity.NOTICE,
        f"no statement ended within {facts.span_s:.1f} s ({running}): whether the pool serves others was not seen",
        ("run it again while clients send statements, or for longer (--seconds)", *_load(facts)),
    )


def _load(facts: Facts) -> Iterator[str]:
    """How much of what it may use the server uses."""
    if facts.server_share is not None and facts.cpus is not None:
        yield f"the server uses {100.0 * facts.server_share:.0f} % of its {cpus_in_words(facts.cpus)}"
    yield (
        f"{facts.after.threads} threads in {facts.limits.size} groups, of {facts.limits.most_threads} at most; "
        f"{facts.mean_served:.1f} at work or waiting in statements on average"
    )
