"""Which sessions hold the locks that others wait for: known where the server lists its locks, else inferred."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.goings_on import LONG_S
from poolpilot.mariadb.diagnosis.judgement.suspects import (
    Likelihood,
    Suspect,
    TableQueue,
    ruled_out,
    suspects_of,
    table_queues,
)
from poolpilot.mariadb.diagnosis.listed_session import ListedSession
from poolpilot.mariadb.diagnosis.lock_reading import HeldLock
from poolpilot.mariadb.diagnosis.table_use import Access, is_same

LockKind = Literal["rows", "metadata", "table", "all tables", "name"]

LEAST_WAIT_S = 2
"""Seconds by InnoDB's clock, which counts whole ones, from which on a wait has surely lasted longer than one."""


@dataclass(frozen=True, slots=True)
class LockHold:
    """A lock that sessions wait for.

    Attributes:
        lock: What is locked.
        holders: Who holds it, or may; all as surely, and those first that are best asked first.
        waiters: Numbers of the sessions that wait for it, the first that came first.
        longest_s: How long the statement that has waited longest has been running, in seconds.
        table: A table that is locked, where that is known.
        change: The first of the waiters, where it would change the table, so that all others wait behind it; else 0.
        needs_lock_tables: Whether only LOCK TABLES or a change of the table can hold off the first of the waiters.
        ruled_out: Sessions that were at work before, and that cannot hold it.
    """

    lock: LockKind
    holders: tuple[Suspect, ...]
    waiters: tuple[int, ...]
    longest_s: float
    table: str = ""
    change: int = 0
    needs_lock_tables: bool = False
    ruled_out: tuple[int, ...] = ()

    @property
    def likelihood(self) -> Likelihood:
        """How surely who is named holds it."""
        return self.holders[0].likelihood if self.holders else Likelihood.POSSIBLE


def lock_holds(facts: Facts) -> Iterator[LockHold]:
    """The locks that sessions have waited for from one reading to the other."""
    yield from _rows(facts)
    yield from _names(facts)
    long = [one for one in facts.sessions if one.since_s >= LONG_S]
    for queue in table_queues("metadata", [one for one in long if one.waits_for_metadata]):
        yield _of_a_table(facts, queue)
    for queue in table_queues("table", [one for one in long if one.waits_for_table]):
        yield _of_a_table(facts, queue)
    if held_off := [one for one in long if one.waits_for_read_lock]:
        yield _all_tables(facts, held_off)


def _rows(facts: Facts) -> Iterator[LockHold]:
    """One for each session that waits for nobody's rows and whose rows others have wanted all the time.

    Where many contend for a row, its holder changes all the time: sessions that wait, wait for whoever came before
    them. So both must have been so since the first reading, in one and the same transaction.
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
        yield LockHold("rows", (Suspect(holder),), waiters, float(longest_s), transaction_of[holder].table)


def _names(facts: Facts) -> Iterator[LockHold]:
    """One for each session that has a name which others want with GET_LOCK."""
    waiting = [one for one in facts.sessions if one.waits_for_user_lock and one.since_s >= facts.span_s]
    told = sorted({facts.user_locks[one.number] for one in waiting if one.number in facts.user_locks})
    for holder in told:
        yield _hold("name", [one for one in waiting if facts.user_locks.get(one.number) == holder], (Suspect(holder),))
    if untold := [one for one in waiting if one.number not in facts.user_locks]:
        yield _hold("name", untold, ())


def _of_a_table(facts: Facts, queue: TableQueue) -> LockHold:
    """A table that sessions wait for, by the list of locks where there is one and it tells."""
    listed = _listed(facts, queue) if queue.lock == "metadata" else None
    holders, table = listed or (suspects_of(facts, queue), queue.table)
    head = queue.head
    heads_others = queue.wanted is Access.CHANGE and head.use.access is not None and len(queue.waiters) > 1
    return LockHold(
        queue.lock,
        holders,
        tuple(one.number for one in queue.waiters),
        max(one.since_s for one in queue.waiters),
        table,
        head.number if heads_others else 0,
        queue.lock == "metadata" and queue.wanted is not Access.CHANGE,
        ruled_out(facts, queue, holders) if not listed else (),
    )


def _listed(facts: Facts, queue: TableQueue) -> tuple[tuple[Suspect, ...], str] | None:
    """Who has a lock that holds off the first of a queue, and on which table; None where the list does not tell."""
    held, numbers = facts.locks.held or (), {one.number for one in queue.waiters}
    tables = _wanted(held, queue)
    granted = [
        one
        for one in held
        if not one.is_wanted
        and one.session not in numbers
        and queue.wanted >= one.holds_off
        and any(is_same(one.table, table) for table in tables)
    ]
    if not granted:
        return None
    return tuple(map(Suspect, _idle_first(facts, {one.session for one in granted}))), granted[0].table


def _idle_first(facts: Facts, numbers: set[int]) -> tuple[int, ...]:
    """Sessions, those that wait for their clients first, and of those the longest idle."""
    seen = facts.session_of
    return tuple(
        sorted(
            numbers,
            key=lambda one: (not seen[one].is_idle, -seen[one].since_s, one) if one in seen else (True, 0.0, one),
        )
    )


def _wanted(held: Sequence[HeldLock], queue: TableQueue) -> tuple[str, ...]:
    """The tables that the first of a queue wants: as the server lists it, else those that its statement names."""
    listed = tuple({one.table for one in held if one.is_wanted and one.session == queue.head.number and one.table})
    return listed or tuple(queue.head.use.tables)


def _all_tables(facts: Facts, waiters: Sequence[ListedSession]) -> LockHold:
    numbers = {one.number for one in waiters}
    listed = {one.session for one in facts.locks.held or () if one.holds_off_all and not one.is_wanted} - numbers
    if listed:
        return _hold("all tables", waiters, tuple(map(Suspect, sorted(listed))))
    if working := tuple(one.number for one in facts.sessions if one.locks_all):
        held_off = [one for one in waiters if one.number not in working] or waiters
        return _hold("all tables", held_off, tuple(map(Suspect, working)))
    resting = tuple(_idle_since(facts, waiters))
    likelihood = Likelihood.LIKELY if len(resting) == 1 else Likelihood.POSSIBLE
    return _hold("all tables", waiters, tuple(Suspect(one, likelihood) for one in resting))


def _idle_since(facts: Facts, waiters: Sequence[ListedSession]) -> Iterator[int]:
    """Sessions that were idle when the first one began to wait; the one that had last done something first.

    Who has changed rows and not ended that transaction has not locked all tables: that would have ended it.
    """
    longest_s, first = max(one.since_s for one in waiters), min(one.query for one in waiters)
    writing = {one.session for one in facts.locks.transactions if one.writes}
    idle = [one for one in facts.sessions if one.is_idle and one.since_s >= longest_s and one.query < first]
    yield from (one.number for one in sorted(idle, key=lambda one: one.since_s) if one.number not in writing)


def _hold(lock: LockKind, waiters: Sequence[ListedSession], holders: tuple[Suspect, ...]) -> LockHold:
    return LockHold(lock, holders, tuple(one.number for one in waiters), max(one.since_s for one in waiters))
