"""What a server has counted: the statements that read it, and the snapshot made of their answers."""

from dataclasses import dataclass
from typing import Any

from poolpilot.env.mariadb.session import Session
from poolpilot.env.mariadb.variables import KNOB_VARIABLES

POPULATION_QUERY = (
    "SELECT SUM(CONNECTIONS), SUM(THREADS), SUM(ACTIVE_THREADS), SUM(STANDBY_THREADS), SUM(HAS_LISTENER), "
    "SUM(QUEUE_LENGTH) FROM information_schema.THREAD_POOL_GROUPS"
)

STATISTICS = {
    "thread_creations": "THREAD_CREATIONS",
    "thread_creations_stall": "THREAD_CREATIONS_DUE_TO_STALL",
    "wakes": "WAKES",
    "wakes_stall": "WAKES_DUE_TO_STALL",
    "throttles": "THROTTLES",
    "stalls": "STALLS",
    "polls_listener": "POLLS_BY_LISTENER",
    "polls_worker": "POLLS_BY_WORKER",
    "dequeues_listener": "DEQUEUES_BY_LISTENER",
    "dequeues_worker": "DEQUEUES_BY_WORKER",
}
"""Counter of a snapshot to the column of THREAD_POOL_STATS, summed over the groups."""

STATISTICS_QUERY = (
    f"SELECT {', '.join(f'SUM({column})' for column in STATISTICS.values())} FROM information_schema.THREAD_POOL_STATS"
)

WAITS_QUERY = "SELECT REASON, COUNT FROM information_schema.THREAD_POOL_WAITS"

WAITS = {
    "waits_sleep": ("SLEEP", "USER_LOCK"),
    "waits_disk_io": ("DISKIO", "BINLOG", "GROUP_COMMIT", "SYNC"),
    "waits_row_lock": ("ROW_LOCK", "TABLE_LOCK", "META_DATA_LOCK", "GLOBAL_LOCK"),
    "waits_net": ("NET",),
}
"""Counter of a snapshot to the reasons of THREAD_POOL_WAITS that it adds up."""

QUESTIONS_QUERY = "SHOW GLOBAL STATUS LIKE 'Questions'"
TUPLE_QUERY = f"SELECT {', '.join(f'@@GLOBAL.{variable.lower()}' for variable, _ in KNOB_VARIABLES.values())}"


@dataclass(frozen=True, slots=True)
class Population:
    """How many of what a pool holds at one instant.

    Attributes:
        connections: Connections of all groups.
        threads: Threads, those that listen, wait or stand by included.
        active: Threads that run a statement and have reported no wait.
        standby: Threads that sleep until they are woken.
        listeners: Threads that listen.
        queued: Connections whose request waits for a worker.
    """

    connections: int
    threads: int
    active: int
    standby: int
    listeners: int
    queued: int

    @property
    def waiting(self) -> int:
        """Threads inside a wait that they have reported: what is left of the threads."""
        return max(self.threads - self.active - self.standby - self.listeners, 0)

    @property
    def in_system(self) -> int:
        """Requests that run, wait or are queued."""
        return self.active + self.waiting + self.queued


def read_population(session: Session) -> Population:
    """Reads the population of the groups."""
    return Population(*(int(value or 0) for value in session.row(POPULATION_QUERY)))


def read_counters(session: Session) -> dict[str, float]:
    """Reads all cumulative counters of the pool and of the server; `completed` leaves our own statements out."""
    row = session.row(STATISTICS_QUERY)
    counters = {name: float(value or 0) for name, value in zip(STATISTICS, row, strict=True)}
    waits = {reason: int(count) for reason, count in session.rows(WAITS_QUERY)}
    counters |= {name: float(sum(waits.get(reason, 0) for reason in reasons)) for name, reasons in WAITS.items()}
    _, questions = session.row(QUESTIONS_QUERY)
    counters["completed"] = float(questions) - session.statements
    return counters


def read_tuple_values(session: Session) -> dict[str, Any]:
    """Reads the values of the knobs' variables by knob."""
    return dict(zip(KNOB_VARIABLES, session.row(TUPLE_QUERY), strict=True))
