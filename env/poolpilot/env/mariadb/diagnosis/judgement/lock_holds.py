"""Which sessions hold the locks that others wait for: known where the server lists its locks, else inferred."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from poolpilot.env.mariadb.diagnosis.facts import Facts
from poolpilot.env.mariadb.diagnosis.goings_on import LONG_S
from poolpilot.env.mariadb.diagnosis.listed_session import ListedSession
from poolpilot.env.mariadb.diagnosis.lock_reading import HeldLock

LockKind = Literal["rows", "metadata", "all tables", "name"]

CLOCK_S = 1.0
"""Ages of transactions come in whole seconds."""

LEAST_WAIT_S = 2
"""Seconds by that clock from which on a wait has surely lasted longer than one."""


@dataclass(frozen=True, slots=True)
class LockHold:
    """A lock that sessions wait for.

    Attributes:
        lock: What is locked.
        holders: Numbers of the sessions that hold it; where that is inferred, the likeliest first.
        waiters: Numbers of the sessions that wait for it.
        longest_s: How long the statement that has waited longest has been running, in seconds.
        table: A table that is locked, where that is known.
        is_inferred: Whether the holders are those that could hold it, since the server does not say who does.
    """

    lock: LockKind
    holders: tuple[int, ...]
    waiters: tuple[int, ...]
    longest_s: float
    table: str = ""
    is_inferred: bool = False


def lock_holds(facts: Facts) -> Iterator[LockHold]:
    """The locks that sessions have waited for from one look to the other."""
    yield from _rows(facts)
    yield from _names(facts)
    metadata = [one for one in facts.sessions if one.waits_for_metadata and one.since_s >= LONG_S]
    if metadata:
        yield _definitions(facts, metadata)
    held_off = [one for one in facts.sessions if one.waits_for_read_lock and one.since_s >= LONG_S]
    if held_off:
        yield _all_tables(facts, held_off)


def _rows(facts: Facts) -> Iterator[LockHold]:
    """One for each session that waits for nobody's rows and whose rows others have wanted all the time.

    Where many contend for a row, its holder changes all the time: sessions that wait, wait for whoever came before
    them. So both must have been so since the first look, in one and the same transaction.
    """
    long_s = max(int(facts.span_s), LEAST_WAIT_S)
    transaction_of = facts.transaction_of
    waits = {
        wait
        for wait in facts.locks.row_waits & facts.earlier_locks.row_waits
        if (transaction_of[wait.waiter].waits_s or 0) >= long_s and transaction_of[wait.holder].age_s >= long_s
    }
    waiting = {wait.waiter for wait in facts.locks.row_waits | facts.earlier_locks.row_waits}
    for holder in sorted({wait.holder for wait in waits} - waiting):
        waiters = tuple(sorted(wait.waiter for wait in waits if wait.holder == holder))
        longest_s = max(transaction_of[one].waits_s or 0 for one in waiters)
        yield LockHold("rows", (holder,), waiters, float(longest_s), transaction_of[holder].table)


def _names(facts: Facts) -> Iterator[LockHold]:
    """One for each session that has a name which others want with GET_LOCK."""
    waiting = [one for one in facts.sessions if one.waits_for_user_lock and one.since_s >= facts.span_s]
    told = sorted({facts.user_locks[one.number] for one in waiting if one.number in facts.user_locks})
    for holder in told:
        yield _hold("name", [one for one in waiting if facts.user_locks.get(one.number) == holder], (holder,))
    if untold := [one for one in waiting if one.number not in facts.user_locks]:
        yield _hold("name", untold, (), is_inferred=True)


def _definitions(facts: Facts, waiters: Sequence[ListedSession]) -> LockHold:
    numbers = {one.number for one in waiters}
    if facts.locks.held is not None:
        tables = set(_wanted(facts.locks.held, waiters))
        granted = [one for one in facts.locks.held if not one.is_wanted and one.table in tables]
        holders = _idle_first(facts, {one.session for one in granted} - numbers)
        if holders:
            # Of several tables, which texts may name, or of several holders, whose modes may go together with what is
            # wanted, it is not known which one.
            guessed = len(tables) > 1 or len(holders) > 1
            return _hold("metadata", waiters, holders, next(iter(sorted(tables))), is_inferred=guessed)
    working = tuple(one.number for one in facts.sessions if one.changes_tables and one.number not in numbers)
    if working:
        return _hold("metadata", waiters, working, is_inferred=True)
    return _hold("metadata", waiters, tuple(_could_hold(facts, waiters)), is_inferred=True)


def _idle_first(facts: Facts, numbers: set[int]) -> tuple[int, ...]:
    """Sessions, those that wait for their clients first, and of those the longest idle."""
    seen = facts.session_of
    return tuple(
        sorted(
            numbers,
            key=lambda one: (not seen[one].is_idle, -seen[one].since_s, one) if one in seen else (True, 0.0, one),
        )
    )


def _wanted(held: Sequence[HeldLock], waiters: Sequence[ListedSession]) -> Iterator[str]:
    """The tables that the waiting sessions want: as the server lists it, else those that their statements name."""
    numbers = {one.number for one in waiters}
    listed = {one.table for one in held if one.is_wanted and one.session in numbers and one.table}
    if listed:
        yield from listed
        return
    asking = {(waiter.text, waiter.schema): waiter for waiter in waiters}.values()
    yield from (
        table for table in {one.table for one in held if one.table} if any(waiter.names(table) for waiter in asking)
    )


def _all_tables(facts: Facts, waiters: Sequence[ListedSession]) -> LockHold:
    numbers = {one.number for one in waiters}
    if facts.locks.held is not None:
        holding = {one.session for one in facts.locks.held if one.holds_off_all and not one.is_wanted} - numbers
        if holding:
            return _hold("all tables", waiters, tuple(sorted(holding)))
    if working := tuple(one.number for one in facts.sessions if one.locks_all):
        return _hold("all tables", [one for one in waiters if one.number not in working] or waiters, working)
    return _hold("all tables", waiters, tuple(_idle_since(facts, waiters)), is_inferred=True)


def _could_hold(facts: Facts, waiters: Sequence[ListedSession]) -> Iterator[int]:
    """Sessions that may hold the definition of a table: those with an older open transaction, else the idle ones."""
    longest_s = max(one.since_s for one in waiters)
    numbers = {one.number for one in waiters}
    older = sorted(
        (one for one in facts.locks.transactions if one.session and one.age_s + CLOCK_S >= longest_s),
        key=lambda one: -one.age_s,
    )
    with_transaction = [one.session for one in older if one.session not in numbers]
    yield from with_transaction or _idle_since(facts, waiters)


def _idle_since(facts: Facts, waiters: Sequence[ListedSession]) -> Iterator[int]:
    """Sessions that were idle when the first one began to wait; the one that had last done something first."""
    longest_s = max(one.since_s for one in waiters)
    first = min(one.query for one in waiters)
    idle = [one for one in facts.sessions if one.is_idle and one.since_s >= longest_s and one.query < first]
    yield from (one.number for one in sorted(idle, key=lambda one: one.since_s))


def _hold(
    lock: LockKind,
    waiters: Sequence[ListedSession],
    holders: tuple[int, ...],
    table: str = "",
    *,
    is_inferred: bool = False,
) -> LockHold:
    return LockHold(
        lock,
        holders,
        tuple(one.number for one in waiters),
        max(one.since_s for one in waiters),
        table,
        is_inferred,
    )
