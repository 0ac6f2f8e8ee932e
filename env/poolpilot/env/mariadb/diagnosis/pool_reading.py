"""What a pool shows of itself at one moment: its groups, its queue, and what it and its machine have done so far."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from poolpilot.env.mariadb.host.process import ServerProcess
from poolpilot.env.mariadb.session import Session
from poolpilot.env.measurement.steal import idle_us_so_far

GROUPS_QUERY = (
    "SELECT g.GROUP_ID, g.CONNECTIONS, g.THREADS, g.ACTIVE_THREADS, g.STANDBY_THREADS, g.QUEUE_LENGTH, g.HAS_LISTENER, "
    "s.DEQUEUES_BY_LISTENER + s.DEQUEUES_BY_WORKER, s.THROTTLES FROM information_schema.THREAD_POOL_GROUPS g "
    "JOIN information_schema.THREAD_POOL_STATS s ON s.GROUP_ID = g.GROUP_ID"
)
QUEUE_QUERY = (
    "SELECT GROUP_ID, CONNECTION_ID, QUEUEING_TIME_MICROSECONDS / 1000000 FROM information_schema.THREAD_POOL_QUEUES"
)
COUNTS_QUERY = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Questions', 'Innodb_row_lock_current_waits')"


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
        throttles: Threads that it has put off making so far.
    """

    number: int
    connections: int
    threads: int
    active: int
    standby: int
    queued: int
    has_listener: bool
    dequeued: int
    throttles: int = 0

    @property
    def stands(self) -> bool:
        """Whether its threads wait inside statements and something waits for them: a queue, or what nobody takes in."""
        has_work = self.queued > 0 or not self.has_listener
        return self.threads > 0 and not self.active and not self.standby and has_work


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
    """One look.

    Attributes:
        at_s: When, by a clock that only runs forward, in seconds.
        groups: The groups.
        queue: The queued requests.
        statements: Statements that clients other than ours have sent since the server started.
        row_waits: Transactions that wait for a row now; every account may see their number.
        cpu_us: Processor time of the server so far, in microseconds; None where it runs on another host.
        idle_us: Idle time of all processors of the machine so far; None where the server runs on another.
    """

    at_s: float
    groups: tuple[ThreadGroup, ...]
    queue: tuple[QueuedRequest, ...] = ()
    statements: int = 0
    row_waits: int = 0
    cpu_us: float | None = None
    idle_us: float | None = None

    @property
    def threads(self) -> int:
        """Threads of all groups."""
        return sum(group.threads for group in self.groups)

    @property
    def by_number(self) -> Mapping[int, ThreadGroup]:
        """The groups by their numbers."""
        return {group.number: group for group in self.groups}


def read_pool(session: Session, process: ServerProcess | None) -> PoolReading:
    """Takes one look.

    Args:
        session: Where to ask.
        process: The server's process, where it runs on this host.

    Raises:
        LostServerError: The server is gone.
    """
    groups = tuple(_group(*map(int, row)) for row in session.rows(GROUPS_QUERY))
    queue = session.rows(QUEUE_QUERY)
    counts = {str(name).lower(): int(value) for name, value in session.rows(COUNTS_QUERY)}
    return PoolReading(
        at_s=time.monotonic(),
        groups=groups,
        queue=tuple(QueuedRequest(int(group), int(number or 0), float(since or 0)) for group, number, since in queue),
        statements=counts["questions"] - session.statements,
        row_waits=counts.get("innodb_row_lock_current_waits", 0),
        cpu_us=process.cpu_us() if process else None,
        idle_us=idle_us_so_far() if process else None,
    )


def _group(number: int, connections: int, threads: int, active: int, standby: int, *further: int) -> ThreadGroup:
    queued, has_listener, dequeued, throttles = further
    return ThreadGroup(number, connections, threads, active, standby, queued, bool(has_listener), dequeued, throttles)
