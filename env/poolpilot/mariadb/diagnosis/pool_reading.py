"""What a pool shows of itself at one moment: its groups, its queue, and what it and its machine have done so far."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from poolpilot.env.measurement.steal import idle_us_so_far
from poolpilot.mariadb.diagnosis.unread_requests import unread_requests
from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.host.quota_periods import ThrottlingOf
from poolpilot.mariadb.session import Session

GROUPS_QUERY = (
    "SELECT g.GROUP_ID, g.CONNECTIONS, g.THREADS, g.ACTIVE_THREADS, g.STANDBY_THREADS, g.QUEUE_LENGTH, g.HAS_LISTENER, "
    "s.DEQUEUES_BY_LISTENER + s.DEQUEUES_BY_WORKER FROM information_schema.THREAD_POOL_GROUPS g "
    "JOIN information_schema.THREAD_POOL_STATS s ON s.GROUP_ID = g.GROUP_ID"
)
QUEUE_QUERY = (
    "SELECT GROUP_ID, CONNECTION_ID, QUEUEING_TIME_MICROSECONDS / 1000000 FROM information_schema.THREAD_POOL_QUEUES"
)
COUNTS_QUERY = (
    "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_row_lock_current_waits', 'Threads_connected', "
    "'Aborted_connects', 'Connection_errors_max_connections', 'Max_used_connections')"
)


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """A group of the pool.

    Attributes:
        number: Its number.
        connections: Connections that belong to it.
        threads: Its threads.
        active: Those that run a statement and have reported no wait.
        standby: Those that sleep until they are woken.
        queued: Requests that wait for a thread.
        has_listener: Whether a thread takes in what clients send.
        dequeued: Requests that its threads have taken up so far.
    """

    number: int
    connections: int
    threads: int
    active: int
    standby: int
    queued: int
    has_listener: bool
    dequeued: int

    @property
    def busy(self) -> int:
        """Its threads that run a statement or wait inside one."""
        return max(self.threads - self.standby - self.has_listener, 0)

    @property
    def unserved(self) -> int:
        """Its connections that no thread serves: from each of them a request may come, or have come."""
        return max(self.connections - self.busy, 0)

    @property
    def lacks_a_thread(self) -> bool:
        """Whether a request would find no thread: a queue, or nobody who takes in what its other clients send.

        Without a listener what they send is in no queue: it waits unread, and is counted nowhere.
        """
        return self.busy > 0 and (self.queued > 0 or (not self.has_listener and self.unserved > 0))

    @property
    def awaits_timer(self) -> bool:
        """Whether only the pool's timer gives it another thread: one that runs is not known to wait."""
        return self.active > 0 and self.lacks_a_thread


@dataclass(frozen=True, slots=True)
class QueuedRequest:
    """A request in the pool's queue.

    Attributes:
        group: Number of its group.
        connection: Number of its session, as KILL takes it; 0 for a login.
        since_s: How long it has been there, in seconds; the server's clock may lag by a stall limit.
    """

    group: int
    connection: int
    since_s: float


@dataclass(frozen=True, slots=True)
class PoolReading:
    """One reading.

    Attributes:
        at_s: When, by a clock that only runs forward, in seconds.
        groups: The groups.
        queue: The queued requests.
        row_waits: Transactions that wait for a row now; every account may see their number.
        cpu_us: Processor time of the server so far, in microseconds; None where it runs on another host.
        idle_us: Idle time of all processors of the machine so far; None where the server runs on another.
        own: Requests of ours that the pool has served so far; 0 over the extra port.
        connected: Connections over the normal port.
        most_connected: The most that there have been since the server started.
        refused: Logins that have come to nothing so far, for whatever reason.
        unread: Clients whose request nobody has read, as far as the server's host shows them.
        throttling: How often the CPU quota of its control groups was used up so far; nothing where that is not told.
    """

    at_s: float
    groups: tuple[ThreadGroup, ...]
    queue: tuple[QueuedRequest, ...] = ()
    row_waits: int = 0
    cpu_us: float | None = None
    idle_us: float | None = None
    own: int = 0
    connected: int = 0
    most_connected: int = 0
    refused: int = 0
    unread: frozenset[str] = frozenset()
    throttling: ThrottlingOf = field(default_factory=dict)

    @property
    def threads(self) -> int:
        """Threads of all groups."""
        return sum(group.threads for group in self.groups)

    @property
    def busy(self) -> int:
        """Threads that run a statement or wait inside one, but for the one that serves this reading."""
        return max(sum(group.busy for group in self.groups) - (self.own > 0), 0)

    @property
    def queued(self) -> int:
        """Requests in the queues of all groups."""
        return sum(group.queued for group in self.groups)

    @property
    def dequeued(self) -> int:
        """Requests that all groups have taken up so far, ours left out."""
        return sum(group.dequeued for group in self.groups) - self.own

    @property
    def by_number(self) -> Mapping[int, ThreadGroup]:
        """The groups by their numbers."""
        return {group.number: group for group in self.groups}


def read_groups(session: Session) -> PoolReading:
    """Reads the groups alone.

    Raises:
        LostServerError: The server is gone.
    """
    groups = tuple(_group(*map(int, row)) for row in session.rows(GROUPS_QUERY))
    return PoolReading(time.monotonic(), groups, own=0 if session.over_extra_port else session.statements)


def read_pool(session: Session, process: ServerProcess | None, port: int) -> PoolReading:
    """Reads everything once.

    Args:
        session: Where to ask.
        process: The server's process, where it runs on this host.
        port: The server's normal port.

    Raises:
        LostServerError: The server is gone.
    """
    queue = session.rows(QUEUE_QUERY)
    counts = {str(name).lower(): int(value) for name, value in session.rows(COUNTS_QUERY)}
    usable = process.cpus() if process else None
    return replace(
        read_groups(session),
        queue=tuple(QueuedRequest(int(group), int(number or 0), float(since or 0)) for group, number, since in queue),
        row_waits=counts.get("innodb_row_lock_current_waits", 0),
        cpu_us=process.cpu_us() if process else None,
        idle_us=idle_us_so_far() if process else None,
        connected=counts.get("threads_connected", 0),
        most_connected=counts.get("max_used_connections", 0),
        refused=counts.get("aborted_connects", 0) + counts.get("connection_errors_max_connections", 0),
        unread=unread_requests(process.pid, port) if process else frozenset(),
        throttling=usable.quota.throttling if usable else {},
    )


def _group(number: int, connections: int, threads: int, active: int, standby: int, *further: int) -> ThreadGroup:
    queued, has_listener, dequeued = further
    return ThreadGroup(number, connections, threads, active, standby, queued, bool(has_listener), dequeued)
