"""A pool that has no thread left: who holds them, since when, and what frees one."""

from collections import Counter
from collections.abc import Iterator, Sequence

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Finding, Severity
from poolpilot.mariadb.diagnosis.listed_session import ListedSession
from poolpilot.mariadb.diagnosis.pool_reading import ThreadGroup

MOST_SHOWN = 5
LARGEST_MAX_THREADS = 65_536


def stuck(facts: Facts, standing: tuple[ThreadGroup, ...]) -> Finding:
    """What to say where groups stand."""
    holders = facts.held_by(standing, facts.span_s)
    return Finding(
        "stuck",
        Severity.CRITICAL,
        f"the pool is stuck: {_held(facts, standing)}",
        (
            f"{len(standing)} of {facts.limits.size} groups took nothing up within {facts.span_s:.1f} s: "
            f"{waiting(facts, standing)}",
            *holders_of_threads(standing, holders),
            *_unheard(facts, standing),
        ),
        tuple(_ways_out(facts, standing, holders)),
        tuple(one.number for one in holders[:MOST_SHOWN]),
    )


def _held(facts: Facts, standing: Sequence[ThreadGroup]) -> str:
    busy, threads = sum(group.busy for group in standing), facts.after.threads
    if not facts.is_exhausted:
        return (
            f"{busy} of its {threads} threads are held, and it gets no more though it may have more: see the server's "
            "error log"
        )
    how = "wait inside" if not any(group.active for group in standing) else "are held by"
    return (
        f"{busy} of {threads} threads {how} statements, and thread_pool_max_threads = {facts.limits.most_threads} "
        "allows no more"
    )


def waiting(facts: Facts, groups: Sequence[ThreadGroup]) -> str:
    """What waits for a thread of some groups: the queue, what nobody takes in, and what may have been sent.

    Args:
        facts: What was seen.
        groups: The groups.
    """
    queued, deaf = sum(group.queued for group in groups), [group for group in groups if not group.has_listener]
    said = [f"{queued} requests queue"] if queued else []
    if deaf and (unread := facts.unread):
        said.append(f"{unread} {'more' if queued else 'requests'} have come that nobody reads")
    elif deaf and not queued:
        others = sum(group.unserved for group in deaf)
        said.append(
            f"no thread listens for {others} other connections, and whether they have sent anything is not seen"
        )
    return ", ".join(said)


def holders_of_threads(groups: Sequence[ThreadGroup], holders: Sequence[ListedSession]) -> Iterator[str]:
    """What the sessions do whose statements hold threads of some groups: the most frequent, then who they are.

    Args:
        groups: The groups.
        holders: The sessions, the longest first.
    """
    doing = Counter(f"{one.kind or one.command} ({one.state or 'executing'})" for one in holders)
    for what, number in doing.most_common(MOST_SHOWN):
        yield f"{number} session{'s' if number > 1 else ''} in {what}"
    for one in holders[:MOST_SHOWN]:
        yield f"{one} runs {one.kind or one.command} for {one.since_s:.0f} s"
    if len(holders) > MOST_SHOWN:
        yield f"and {len(holders) - MOST_SHOWN} more sessions"
    if not holders:
        yield f"threads held: {sum(group.busy for group in groups)}; by whom cannot be seen without PROCESS"


def _unheard(facts: Facts, standing: Sequence[ThreadGroup]) -> Iterator[str]:
    if deaf := sum(not group.has_listener for group in standing):
        yield f"{deaf} of these groups have no listener: what their clients send, a COMMIT too, is not even taken in"
    if logins := sum(not request.connection for request in facts.after.queue):
        yield f"{logins} logins wait in the queue"


def _ways_out(facts: Facts, standing: Sequence[ThreadGroup], holders: Sequence[ListedSession]) -> Iterator[str]:
    """What frees a stuck pool; on the extra port, since no other login gets through."""
    if facts.is_exhausted and facts.limits.most_threads < LARGEST_MAX_THREADS:
        yield "run this over the extra port: no login gets through the normal one"
        yield f"SET GLOBAL thread_pool_max_threads = {enough_threads(facts)};"
        yield (
            "the pool's timer then makes a thread for every group that lacks one; keep that value in my.cnf, at least "
            "as many as sessions may run or wait at once"
        )
    # More sessions than threads: some are served beside the pool, over the extra port, and it is not known which.
    if holders and len(holders) <= sum(group.busy for group in standing):
        longest = holders[0]
        yield f"KILL QUERY {longest.number};"
        what = f"{longest.kind or longest.command}, {longest.since_s:.0f} s"
        yield f"ends the statement of {longest} ({what}), whose thread then serves others"
    if facts.after.row_waits:
        yield f"left alone, a wait for a row ends after innodb_lock_wait_timeout = {facts.limits.row_wait_s} s"


def enough_threads(facts: Facts) -> int:
    """A limit on threads that lets every connection have one, and every group a listener: then nobody starves.

    Fewer could go to those who would only wait as well; no more threads are made than sessions wait at once.
    """
    connections = sum(group.connections for group in facts.after.groups)
    return min(max(2 * facts.limits.most_threads, connections + 2 * facts.limits.size), LARGEST_MAX_THREADS)
