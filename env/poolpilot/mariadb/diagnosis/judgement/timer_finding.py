"""Requests that wait for the pool's timer: a stall limit that lets one long statement hold a group for seconds."""

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.finding import Finding, Severity
from poolpilot.mariadb.diagnosis.judgement.held_groups import held_until_timer
from poolpilot.mariadb.diagnosis.judgement.stuck_finding import holders_of_threads, waiting

STOCK_STALL_LIMIT_MS = 500
LONG_STALL_LIMIT_MS = 2 * STOCK_STALL_LIMIT_MS
"""Stall limits above this are told: a request behind a long statement waits so long, and nothing else shows it."""

HOPELESS_MS = 10_000
"""Stall limits from which on clients give up before the timer comes."""

LEAST_HELD_S = 0.5
"""Seconds for which a group must have been held to be told: a tick of the stock limit."""

UNITS = "MariaDB counts this limit in milliseconds; MySQL's variable of this name counts units of 10 ms, 600 at most"


def timer_finding(facts: Facts) -> Finding | None:
    """What to say where groups waited for the timer longer than they need to; None where none did."""
    held = [one for one in held_until_timer(facts) if one.held_s >= LEAST_HELD_S]
    if not held or facts.limits.stall_limit_ms <= LONG_STALL_LIMIT_MS:
        return None
    groups, longest_s = [one.group for one in held], max(one.held_s for one in held)
    waits = facts.unread > 0 or any(group.queued for group in groups)
    holders = facts.held_by(groups, longest_s)
    return Finding(
        "stall_limit",
        Severity.CRITICAL if waits and facts.limits.stall_limit_ms >= HOPELESS_MS else Severity.WARNING,
        f"requests {'wait' if waits else 'may wait'} for the pool's timer: "
        f"thread_pool_stall_limit = {facts.limits.stall_limit_ms} ms lets a long statement hold all others of its "
        f"group for up to {_in_words(facts.limits.stall_limit_s)}",
        (
            f"{len(held)} of {facts.limits.size} groups took nothing up for {longest_s:.1f} s: "
            f"{waiting(facts, groups)}",
            *holders_of_threads(groups, holders),
            *_units(facts),
        ),
        _shorter(),
        tuple(one.number for one in holders),
    )


def long_stall_limit(facts: Facts) -> Finding | None:
    """A stall limit that is too long, though nothing was seen to wait for it; None where it is not."""
    if facts.limits.stall_limit_ms <= LONG_STALL_LIMIT_MS:
        return None
    return Finding(
        "stall_limit",
        Severity.NOTICE,
        f"thread_pool_stall_limit = {facts.limits.stall_limit_ms} ms: a long statement may hold all others of its "
        f"group for up to {_in_words(facts.limits.stall_limit_s)}",
        tuple(_units(facts)),
        _shorter(),
    )


def _units(facts: Facts) -> tuple[str, ...]:
    return (UNITS,) if facts.limits.stall_limit_ms >= HOPELESS_MS else ()


def _shorter() -> tuple[str, ...]:
    return (
        f"SET GLOBAL thread_pool_stall_limit = {STOCK_STALL_LIMIT_MS};",
        f"{STOCK_STALL_LIMIT_MS} ms is MariaDB's default; the timer keeps to a new limit at once; keep it in my.cnf",
    )


def _in_words(seconds: float) -> str:
    return f"{seconds:g} s" if seconds < 120.0 else f"{seconds / 60.0:.0f} minutes"
