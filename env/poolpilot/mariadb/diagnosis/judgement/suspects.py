"""Who can hold a table that others wait for, where no list says: ruled in or out by what a session can hold."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from poolpilot.mariadb.diagnosis.facts import Facts
from poolpilot.mariadb.diagnosis.listed_session import ListedSession
from poolpilot.mariadb.diagnosis.lock_reading import OpenTransaction
from poolpilot.mariadb.diagnosis.table_use import Access, is_same

CLOCK_S = 1.0
"""Ages of transactions come in whole seconds."""

MOST_QUEUES = 10
"""Tables of which it is told who may hold them; where more are waited for, the same few sessions hold them."""

TableLock = Literal["metadata", "table"]
"""The lock on a table's definition, kept to the end of a transaction; or on all of its rows, kept by a statement."""


class Likelihood(IntEnum):
    """How surely a session holds what others wait for; only who is shown to is to be ended."""

    POSSIBLE = 0
    LIKELY = 1
    SHOWN = 2


@dataclass(frozen=True, slots=True)
class Suspect:
    """A session that may hold what others wait for.

    Attributes:
        session: Its number; 0 for a prepared transaction that no session has.
        likelihood: How surely.
    """

    session: int
    likelihood: Likelihood = Likelihood.SHOWN


@dataclass(frozen=True, slots=True)
class TableQueue:
    """Sessions that wait for the same table.

    Attributes:
        lock: What of it they wait for.
        waiters: The sessions, the one first that has waited longest: who holds it off, holds off those behind it too.
    """

    lock: TableLock
    waiters: tuple[ListedSession, ...]

    @property
    def head(self) -> ListedSession:
        """The one that has waited longest."""
        return self.waiters[0]

    @property
    def wanted(self) -> Access:
        """What the first one wants; a change, with which nothing goes together, where its text does not say."""
        access = self.head.use.access
        return Access.CHANGE if access is None else access

    @property
    def table(self) -> str:
        """The table, where the first one names one alone."""
        tables = tuple(self.head.use.tables)
        return tables[0] if len(tables) == 1 else ""

    def is_held_off_by(self, held: Access) -> bool:
        """Whether a use of the table holds the first one off.

        A definition is shared by all who do not change it; of rows locked as a whole, by readers alone.
        """
        return max(held, self.wanted) >= (Access.CHANGE if self.lock == "metadata" else Access.WRITE)


def table_queues(lock: TableLock, waiters: Sequence[ListedSession]) -> Iterator[TableQueue]:
    """The sessions that wait, those together that name a table in common; the longest queues, in each who came first.

    Args:
        lock: What of a table they wait for.
        waiters: The sessions; those whose statements name no table that can be told stand with the first others.
    """
    queues: list[tuple[list[ListedSession], set[str]]] = []
    for one in sorted(waiters, key=lambda one: (one.query, -one.since_s)):
        own = one.use.tables
        queue = next((queue for queue in queues if _may_be_the_same(own, queue[1])), None)
        if queue is None:
            queue = ([], set())
            queues.append(queue)
        queue[0].append(one)
        queue[1].update(own)
    longest = sorted(queues, key=lambda queue: -len(queue[0]))[:MOST_QUEUES]
    yield from (TableQueue(lock, tuple(sessions)) for sessions, _ in longest)


def _may_be_the_same(tables: Collection[str], others: Collection[str]) -> bool:
    return not tables or not others or any(is_same(one, other) for one in tables for other in others)


def suspects_of(facts: Facts, queue: TableQueue) -> tuple[Suspect, ...]:
    """Who may hold off the first of a queue: those shown to, else the likely ones, else the possible ones.

    Open transactions come first, the oldest before the others; of who runs a statement, the longest; of who waits for
    a client, who has last done something. One that alone is possible is likely.
    """
    waiting = {one.number for one in queue.waiters}
    found = {
        one.number: likelihood
        for one in facts.sessions
        if one.number not in waiting and (likelihood := _likelihood(facts, one, queue)) is not None
    }
    if queue.lock == "metadata" and queue.wanted is Access.CHANGE:  # also those of who applies what others have done
        others = {one.session for one in facts.locks.transactions if _is_older(one, queue)} - waiting - found.keys()
        found |= dict.fromkeys(others - facts.session_of.keys() - {0}, Likelihood.LIKELY)
    best = max(found.values(), default=None)
    numbers = sorted((one for one in found if found[one] == best), key=lambda one: _order(facts, one, queue))
    is_alone = best is Likelihood.POSSIBLE and len(numbers) == 1
    return tuple(Suspect(one, Likelihood.LIKELY if is_alone else found[one]) for one in numbers)


def ruled_out(facts: Facts, queue: TableQueue, suspects: Sequence[Suspect]) -> tuple[int, ...]:
    """Sessions that were at work, or within a transaction, before the first of a queue, and cannot hold it off."""
    others = {one.session for one in suspects} | {one.number for one in queue.waiters}
    return tuple(
        one.number
        for one in sorted(facts.sessions, key=lambda one: -one.since_s)
        if one.number not in others
        and (_is_older(facts.transaction_of.get(one.number), queue) or (not one.is_idle and _began_before(one, queue)))
    )


def _likelihood(facts: Facts, one: ListedSession, queue: TableQueue) -> Likelihood | None:
    """How surely a session holds off the first of a queue; None where it cannot."""
    in_transaction = _is_older(facts.transaction_of.get(one.number), queue)
    if not one.is_idle and _began_before(one, queue):
        uses = [one.use.access_to(table) for table in queue.head.use.tables]
        if any(use is not None and queue.is_held_off_by(use) for use in uses):
            return Likelihood.SHOWN
        if _may_use_any(one, queue):
            return Likelihood.POSSIBLE
    if queue.lock == "metadata" and in_transaction:  # LOCK TABLES, which holds off more, would have ended it
        return Likelihood.LIKELY if queue.wanted is Access.CHANGE else None
    rests = one.is_idle and one.since_s >= queue.head.since_s and one.query < queue.head.query
    locks_tables = rests and (queue.lock == "metadata" or queue.wanted is not Access.READ)
    return Likelihood.POSSIBLE if locks_tables else None


def _may_use_any(one: ListedSession, queue: TableQueue) -> bool:
    """Whether the texts leave open that a running statement uses the table, in a way that holds the first one off."""
    use = one.use
    is_open = use.access is None or not one.is_whole or not queue.head.use.tables
    return is_open and queue.is_held_off_by(Access.CHANGE if use.access is None else use.access)


def _began_before(one: ListedSession, queue: TableQueue) -> bool:
    return one.query < queue.head.query and one.since_s >= queue.head.since_s


def _is_older(transaction: OpenTransaction | None, queue: TableQueue) -> bool:
    return transaction is not None and transaction.age_s + CLOCK_S >= queue.head.since_s


def _order(facts: Facts, number: int, queue: TableQueue) -> tuple[float, float]:
    session, transaction = facts.session_of.get(number), facts.transaction_of.get(number)
    age_s = transaction.age_s if transaction and _is_older(transaction, queue) else 0.0
    since_s = session.since_s if session else 0.0
    return -age_s, since_s if session and session.is_idle else -since_s
