"""Why a pool is better left alone now: somebody alters a table, backs up, locks everything, or nothing moves at all.

What happens under these says nothing of the pool, and a change might be blamed for it.
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from poolpilot.featurizer.snapshot import Hindrance, HindranceKind
from poolpilot.mariadb.diagnosis.goings_on import LONG_S, goings_on, lagging
from poolpilot.mariadb.diagnosis.listed_session import ListedSession, read_sessions
from poolpilot.mariadb.diagnosis.replica_status import RUNNING_QUERY, read_replicas
from poolpilot.mariadb.session import Session

PILE = 2
"""Sessions that wait for locks of definitions, from which on they pile up."""

POOL_QUERY = (
    "SELECT MAX(@@GLOBAL.read_only), @@GLOBAL.thread_pool_max_threads, SUM(THREADS), SUM(QUEUE_LENGTH), "
    "SUM(THREADS > 0 AND ACTIVE_THREADS = 0 AND STANDBY_THREADS = 0 AND (QUEUE_LENGTH > 0 OR NOT HAS_LISTENER)), "
    f"({RUNNING_QUERY}) FROM information_schema.THREAD_POOL_GROUPS"
)
"""Bare, @@GLOBAL.read_only is always 0 beside sums (seen on MariaDB 10.11.19)."""


@dataclass(frozen=True, slots=True)
class Crowding:
    """How a pool that may be out of threads stands.

    Attributes:
        most_threads: thread_pool_max_threads.
        threads: Threads that it has.
        queued: Requests that wait for one.
        stuck_groups: Groups with a queue, or without a listener, of which no thread runs or stands by: all wait
            inside their statements.
    """

    most_threads: int
    threads: int
    queued: int
    stuck_groups: int

    @property
    def is_stuck(self) -> bool:
        """Whether requests queue behind threads that all wait, and there may be no more threads."""
        return self.stuck_groups > 0 and self.threads >= self.most_threads


FLIP_TOLD_S = 10.0
"""Seconds for which it is told that read_only was switched, whoever has read it in between."""

_read_only_before: WeakKeyDictionary[Session, tuple[bool, float]] = WeakKeyDictionary()
"""What read_only was when a session last read it, and when it had changed: only that is a reason to wait, as in a
switchover."""


def hindrances(session: Session, most_replica_lag_s: float) -> tuple[Hindrance, ...]:
    """Why nothing should be changed now; none where nothing speaks against it.

    Two statements; on a server that replicates a third. What the account may not see is left out: other accounts'
    sessions need PROCESS, the lag of a replica needs REPLICA MONITOR.

    Args:
        session: Where to ask.
        most_replica_lag_s: Seconds that a replica may be behind before that is a reason.

    Raises:
        LostServerError: The server is gone.
    """
    read_only, most_threads, threads, queued, standing, replicas = session.row(POOL_QUERY)
    crowding = Crowding(int(most_threads), int(threads or 0), int(queued or 0), int(standing or 0))
    behind = read_replicas(session) if int(replicas or 0) else None
    sessions = read_sessions(session, busy=True)
    return (
        *flips(session, read_only),
        *stuck(crowding),
        *(Hindrance(finding.sentence) for finding in goings_on(sessions)),
        *piled_up(sessions),
        *(Hindrance(finding.sentence) for finding in lagging(behind or (), most_replica_lag_s)),
    )


def flips(session: Session, read_only: Any) -> Iterator[Hindrance]:
    """Whether read_only has changed between readings of this session, not long ago."""
    now, at_s = str(read_only).upper() not in ("0", "OFF"), time.monotonic()
    before, changed_s = _read_only_before.get(session, (now, -math.inf))
    changed_s = changed_s if now == before else at_s
    _read_only_before[session] = (now, changed_s)
    if at_s - changed_s < FLIP_TOLD_S:
        switched = "on" if now else "off"
        yield Hindrance(f"read_only has just been switched {switched}: a switchover may be under way")


def stuck(crowding: Crowding) -> Iterator[Hindrance]:
    """Whether no request can be served because every thread waits and no more are allowed."""
    if crowding.is_stuck:
        yield Hindrance(
            f"the pool is stuck: {crowding.queued} requests queue, it has all {crowding.threads} threads that "
            f"thread_pool_max_threads = {crowding.most_threads} allows, and those of {crowding.stuck_groups} groups "
            "wait inside their statements",
            HindranceKind.STUCK,
        )


def piled_up(sessions: Sequence[ListedSession]) -> Iterator[Hindrance]:
    """Whether sessions wait for locks of definitions, or for one on all tables."""
    held_off = [one for one in sessions if one.since_s >= LONG_S]
    if (number := sum(one.waits_for_metadata for one in held_off)) >= PILE:
        yield Hindrance(f"{number} sessions wait for metadata locks")
    if number := sum(one.waits_for_read_lock for one in held_off):
        waiting = "1 session waits" if number == 1 else f"{number} sessions wait"
        yield Hindrance(f"{waiting} for a lock on all tables (a backup, or FLUSH TABLES WITH READ LOCK)")
