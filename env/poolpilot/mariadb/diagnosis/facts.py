"""The facts of a diagnosis: two readings of a server, and what was going on there at the second."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from poolpilot.mariadb.diagnosis.full_disks import FullDisk, full_disks
from poolpilot.mariadb.diagnosis.listed_session import (
    ListedSession,
    hidden_sessions,
    quoted_account,
    read_sessions,
)
from poolpilot.mariadb.diagnosis.lock_reading import Locks, OpenTransaction, read_locks, read_user_locks
from poolpilot.mariadb.diagnosis.pool_limits import PoolLimits, read_limits
from poolpilot.mariadb.diagnosis.pool_reading import (
    PoolReading,
    QueuedRequest,
    ThreadGroup,
    read_groups,
    read_pool,
)
from poolpilot.mariadb.diagnosis.replica_status import (
    REPLICA_PRIVILEGE,
    RUNNING_QUERY,
    ReplicaStatus,
    read_replicas,
)
from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.session import Session

SAMPLE_EVERY_S = 0.1


@dataclass(frozen=True)
class Facts:
    """What was seen.

    Attributes:
        before: The first reading of the pool.
        after: The second.
        samples: Its groups in between.
        limits: What the server may do.
        cpus: Processors of the server; None where they are not known.
        sessions: The sessions at the second reading.
        earlier_locks: The locks at the first reading.
        locks: Those at the second.
        user_locks: Who has the named lock that a session waits for, by the number of the waiting one.
        replicas: Replication connections.
        full: Folders of the server on disks without space, as far as its host shows them.
        hidden: What the account cannot see, and what would let it.
    """

    before: PoolReading
    after: PoolReading
    samples: tuple[PoolReading, ...]
    limits: PoolLimits
    cpus: float | None = None
    sessions: tuple[ListedSession, ...] = ()
    earlier_locks: Locks = field(default_factory=Locks)
    locks: Locks = field(default_factory=Locks)
    user_locks: Mapping[int, int] = field(default_factory=dict)
    replicas: tuple[ReplicaStatus, ...] = ()
    full: tuple[FullDisk, ...] = ()
    hidden: tuple[str, ...] = ()

    @property
    def span_s(self) -> float:
        """Seconds from the first reading to the second."""
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
    def readings(self) -> tuple[PoolReading, ...]:
        """Every reading of the groups, the first to the last."""
        return (self.before, *self.samples, self.after)

    @property
    def mean_queued(self) -> float:
        """Requests in the queue, on average."""
        return fmean(one.queued for one in self.readings)

    @property
    def mean_served(self) -> float:
        """Requests that threads have taken up and not finished, on average."""
        return fmean(one.busy for one in self.readings)

    @property
    def dequeued(self) -> int:
        """Requests of others that the pool's threads took up between the readings."""
        return max(self.after.dequeued - self.before.dequeued, 0)

    @property
    def ended(self) -> int:
        """Requests of others that ended between the readings: those taken up, but for the ones still in threads."""
        return max(self.dequeued + self.before.busy - self.after.busy, 0)

    @property
    def unread(self) -> int:
        """Clients whose request nobody has read from one reading to the other, as far as the server's host shows them.

        What lies in the pool's queue has not been read either, and is left out.
        """
        return max(len(self.before.unread & self.after.unread) - self.after.queued, 0)

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

    def held_by(self, groups: Sequence[ThreadGroup], least_s: float) -> tuple[ListedSession, ...]:
        """The sessions whose statements have held threads of some groups for a time; the longest first.

        A session's number tells its group, except right after thread_pool_size was changed: then all that run count.

        Args:
            groups: The groups.
            least_s: For so many seconds at least.
        """
        numbers = {group.number for group in groups}
        running = [one for one in self.sessions if not one.is_idle and one.since_s >= least_s]
        inside = [one for one in running if one.number % self.limits.size in numbers]
        return tuple(sorted(inside or running, key=lambda one: -one.since_s))

    @property
    def is_exhausted(self) -> bool:
        """Whether the pool has all the threads that it may have."""
        return self.after.threads >= self.limits.most_threads


def read_facts(session: Session, process: ServerProcess | None, cpus: float | None, seconds: float) -> Facts:
    """Reads twice, `seconds` apart, and now and then in between; changes nothing.

    Args:
        session: Where to ask, on the extra port where there is one.
        process: The server's process, where it runs on this host.
        cpus: Processors of the server; None where they are not known.
        seconds: From one reading to the other.

    Raises:
        LostServerError: The server is gone, or does not answer in time.
    """
    limits = read_limits(session)
    earlier_locks = read_locks(session)
    before = read_pool(session, process, limits.port)
    samples = tuple(_sampled(session, seconds))
    after = read_pool(session, process, limits.port)
    locks = read_locks(session)
    sessions = tuple(one for one in read_sessions(session) if one.of_a_client)
    replicates = int(session.row(f"SELECT ({RUNNING_QUERY})")[0] or 0) > 0
    replicas = read_replicas(session) if replicates else ()
    return Facts(
        before=before,
        after=after,
        samples=samples,
        limits=limits,
        cpus=cpus,
        sessions=sessions,
        earlier_locks=earlier_locks,
        locks=locks,
        user_locks=read_user_locks(session, sessions),
        replicas=replicas or (),
        full=full_disks(session, process),
        hidden=tuple(_hidden(session, process is not None, replicas is not None)),
    )


def _sampled(session: Session, seconds: float) -> Iterator[PoolReading]:
    ends_s = time.monotonic() + seconds
    while (left_s := ends_s - time.monotonic()) > 0.0:
        yield read_groups(session)
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
