"""The facts of a diagnosis: two looks at a server, and what was going on there at the second."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from poolpilot.env.mariadb.counters import Population, read_population
from poolpilot.env.mariadb.diagnosis.listed_session import (
    ListedSession,
    hidden_sessions,
    quoted_account,
    read_sessions,
)
from poolpilot.env.mariadb.diagnosis.lock_reading import Locks, OpenTransaction, read_locks, read_user_locks
from poolpilot.env.mariadb.diagnosis.pool_reading import PoolReading, QueuedRequest, read_pool
from poolpilot.env.mariadb.diagnosis.replica_status import (
    REPLICA_PRIVILEGE,
    RUNNING_QUERY,
    ReplicaStatus,
    read_replicas,
)
from poolpilot.env.mariadb.host.process import ServerProcess
from poolpilot.env.mariadb.session import Session

SAMPLE_EVERY_S = 0.1
LIMITS_QUERY = (
    "SELECT @@GLOBAL.thread_pool_size, @@GLOBAL.thread_pool_oversubscribe, @@GLOBAL.thread_pool_stall_limit, "
    "@@GLOBAL.thread_pool_max_threads, @@GLOBAL.innodb_lock_wait_timeout, @@GLOBAL.lock_wait_timeout"
)


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """What the pool may do, as it is set now.

    Attributes:
        size: thread_pool_size.
        oversubscribe: thread_pool_oversubscribe.
        stall_limit_ms: thread_pool_stall_limit.
        most_threads: thread_pool_max_threads.
        row_wait_s: innodb_lock_wait_timeout.
        definition_wait_s: lock_wait_timeout.
    """

    size: int
    oversubscribe: int
    stall_limit_ms: int
    most_threads: int
    row_wait_s: int = 50
    definition_wait_s: int = 86_400


@dataclass(frozen=True)
class Facts:
    """What was seen.

    Attributes:
        before: The first look at the pool.
        after: The second.
        samples: The population in between.
        limits: What the pool may do.
        cpus: Processors of the server; None where they are not known.
        sessions: The sessions at the second look.
        earlier_locks: The locks at the first look.
        locks: Those at the second.
        user_locks: Who has the named lock that a session waits for, by the number of the waiting one.
        replicas: Replication connections.
        hidden: What the account cannot see, and what would let it.
    """

    before: PoolReading
    after: PoolReading
    samples: tuple[Population, ...]
    limits: PoolLimits
    cpus: int | None = None
    sessions: tuple[ListedSession, ...] = ()
    earlier_locks: Locks = field(default_factory=Locks)
    locks: Locks = field(default_factory=Locks)
    user_locks: Mapping[int, int] = field(default_factory=dict)
    replicas: tuple[ReplicaStatus, ...] = ()
    hidden: tuple[str, ...] = ()

    @property
    def span_s(self) -> float:
        """Seconds from the first look to the second."""
        return max(self.after.at_s - self.before.at_s, 1e-3)

    @cached_property
    def session_of(self) -> Mapping[int, ListedSession]:
        """The sessions by number."""
        return {one.number: one for one in self.sessions}

    @cached_property
    def queued_of(self) -> Mapping[int, QueuedRequest]:
        """The queued requests by the number of their session."""
        return {one.connection: one for one in self.after.queue}

    @cached_property
    def transaction_of(self) -> Mapping[int, OpenTransaction]:
        """The open transactions by the number of their session."""
        return {one.session: one for one in self.locks.transactions}

    @property
    def mean_queued(self) -> float:
        """Requests in the queue, on average."""
        return sum(one.queued for one in self.samples) / max(len(self.samples), 1)

    @property
    def mean_served(self) -> float:
        """Requests that threads have taken up and not finished, on average."""
        return sum(one.active + one.waiting for one in self.samples) / max(len(self.samples), 1)

    @property
    def dequeued(self) -> int:
        """Requests that the pool's threads took up between the looks."""
        first = self.before.by_number
        return sum(
            max(group.dequeued - first[group.number].dequeued, 0)
            for group in self.after.groups
            if group.number in first
        )

    @property
    def queueing_s(self) -> float | None:
        """What a request waits in the queue by Little's law, in seconds; None where none was taken up."""
        return self.mean_queued * self.span_s / self.dequeued if self.dequeued else None

    @property
    def server_share(self) -> float | None:
        """The share of its processors that the server used; None where that cannot be seen."""
        used = _difference(self.after.cpu_us, self.before.cpu_us)
        return None if used is None or not self.cpus else used / 1e6 / self.span_s / self.cpus

    @property
    def idle_cpus(self) -> float | None:
        """Processors of the server's machine that nobody used, on average; None where that cannot be seen."""
        idle = _difference(self.after.idle_us, self.before.idle_us)
        return None if idle is None else idle / 1e6 / self.span_s

    @property
    def is_exhausted(self) -> bool:
        """Whether the pool has all the threads that it may have."""
        return self.after.threads >= self.limits.most_threads


def read_facts(session: Session, process: ServerProcess | None, cpus: int | None, seconds: float) -> Facts:
    """Looks twice, `seconds` apart, and now and then in between; changes nothing.

    Args:
        session: Where to ask, on the extra port where there is one.
        process: The server's process, where it runs on this host.
        cpus: Processors of the server; None where they are not known.
        seconds: From one look to the other.

    Raises:
        LostServerError: The server is gone, or does not answer in time.
    """
    earlier_locks = read_locks(session)
    before = read_pool(session, process)
    samples = tuple(_sampled(session, seconds))
    after = read_pool(session, process)
    locks = read_locks(session)
    sessions = tuple(one for one in read_sessions(session) if one.of_a_client)
    replicates = int(session.row(f"SELECT ({RUNNING_QUERY})")[0] or 0) > 0
    replicas = read_replicas(session) if replicates else ()
    return Facts(
        before=before,
        after=after,
        samples=samples,
        limits=PoolLimits(*map(int, session.row(LIMITS_QUERY))),
        cpus=cpus,
        sessions=sessions,
        earlier_locks=earlier_locks,
        locks=locks,
        user_locks=read_user_locks(session, sessions),
        replicas=replicas or (),
        hidden=tuple(_hidden(session, process is not None, replicas is not None)),
    )


def _sampled(session: Session, seconds: float) -> Iterator[Population]:
    ends_s = time.monotonic() + seconds
    while (left_s := ends_s - time.monotonic()) > 0.0:
        yield read_population(session)
        time.sleep(min(left_s, SAMPLE_EVERY_S))


def _hidden(session: Session, has_process: bool, sees_replicas: bool) -> Iterator[str]:
    yield from hidden_sessions(session)
    if not sees_replicas:
        yield (
            f"how far replication is behind cannot be seen without {REPLICA_PRIVILEGE}: "
            f"GRANT {REPLICA_PRIVILEGE} ON *.* TO {quoted_account(session)};"
        )
    if not has_process:
        yield "whether its processors are used up cannot be seen: the server's process is not on this host"


def _difference(late: float | None, early: float | None) -> float | None:
    return None if late is None or early is None else late - early
