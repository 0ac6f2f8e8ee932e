"""What a server has counted: the statements that read it, and the snapshot made of their answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from poolpilot.featurizer.measures import STATEMENTS, WAIT_REASONS
from poolpilot.mariadb.session import Session
from poolpilot.mariadb.variables import KNOB_VARIABLES, MAX_THREADS

POPULATION = (
    "SUM(CONNECTIONS), SUM(THREADS), SUM(ACTIVE_THREADS), SUM(STANDBY_THREADS), SUM(HAS_LISTENER), SUM(QUEUE_LENGTH), "
    "GROUP_CONCAT(IF(HAS_LISTENER = 0 AND ACTIVE_THREADS > 0, CONCAT(GROUP_ID, '=', CONNECTIONS), NULL)), "
    "(SELECT GROUP_CONCAT(GROUP_ID, '=', POLLS_BY_LISTENER + POLLS_BY_WORKER) "
    "FROM information_schema.THREAD_POOL_STATS)"
)
"""Sums over the groups, and as `GROUP=NUMBER,...` the connections of groups that nobody listens for, and all polls."""

POPULATION_QUERY = f"SELECT {POPULATION} FROM information_schema.THREAD_POOL_GROUPS"

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

WAITS = {
    "waits_sleep": ("SLEEP", "USER_LOCK"),
    "waits_disk_io": ("DISKIO", "BINLOG", "GROUP_COMMIT", "SYNC"),
    "waits_row_lock": ("ROW_LOCK", "TABLE_LOCK", "META_DATA_LOCK", "GLOBAL_LOCK"),
    "waits_net": ("NET",),
}
"""Counter of a snapshot to the reasons of THREAD_POOL_WAITS that it adds up."""

STATUS = {
    "completed": ("QUESTIONS",),
    "row_lock_waits": ("INNODB_ROW_LOCK_WAITS",),
    "row_lock_wait_us": ("INNODB_ROW_LOCK_TIME",),
    "rows_read": (
        "HANDLER_READ_FIRST",
        "HANDLER_READ_KEY",
        "HANDLER_READ_LAST",
        "HANDLER_READ_NEXT",
        "HANDLER_READ_PREV",
        "HANDLER_READ_RND",
        "HANDLER_READ_RND_NEXT",
    ),
    "statements_select": ("COM_SELECT",),
    "statements_insert": ("COM_INSERT", "COM_INSERT_SELECT", "COM_REPLACE", "COM_REPLACE_SELECT"),
    "statements_update": ("COM_UPDATE", "COM_UPDATE_MULTI"),
    "statements_delete": ("COM_DELETE", "COM_DELETE_MULTI"),
    "statements_call": ("COM_CALL_PROCEDURE",),
    "statements_commit": ("COM_COMMIT",),
}
"""Counter of a snapshot to the status variables that it adds up, which any account sees; Com_* counts what procedures
do inside too, Questions does not. Handler_read_* rise while a statement runs, so a scan shows before it ends."""

US_PER_UNIT = {"row_lock_wait_us": 1000.0}
"""What a status variable counts in, where that is no microsecond: milliseconds."""

POOL_QUERY = (
    f"SELECT {', '.join(f'SUM({one})' for one in STATISTICS.values())}, "
    "(SELECT GROUP_CONCAT(REASON, '=', COUNT) FROM information_schema.THREAD_POOL_WAITS) "
    "FROM information_schema.THREAD_POOL_STATS"
)
"""Sums over the groups, and the waits as `REASON=COUNT,...`: a statement costs more than the rows of these tables."""

NAME_AND_VALUE = "VARIABLE_NAME, VARIABLE_VALUE"


def _listed(*counters: str) -> str:
    """The status variables of some counters, fit for SQL."""
    return ", ".join(f"'{variable}'" for counter in counters for variable in STATUS[counter])


STATUS_QUERY = (
    f"SELECT 0, {NAME_AND_VALUE} FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN ({_listed(*STATUS)}) "
    f"UNION ALL SELECT 1, {NAME_AND_VALUE} FROM information_schema.SESSION_STATUS "
    f"WHERE VARIABLE_NAME IN ({_listed('rows_read')})"
)
"""What the server has counted (0), and of it what this session itself has read (1): of many groups that is as many
rows. Not by SHOW, which adds the rows that it reads to the server's alone."""

CHANGEABLE = {**{knob: variable.lower() for knob, (variable, _) in KNOB_VARIABLES.items()}, MAX_THREADS: MAX_THREADS}
"""What anybody who may can set while the server runs: the knobs' variables by knob, and the limit of threads."""

TUPLE = ", ".join(f"@@GLOBAL.{variable}" for variable in CHANGEABLE.values())
TUPLE_QUERY = f"SELECT {TUPLE}"
VALUES_AND_POPULATION_QUERY = f"SELECT {TUPLE}, {POPULATION} FROM information_schema.THREAD_POOL_GROUPS"


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
        unlistened_groups: Connections of each group that runs something and has no listener. What they send is in no
            queue until a thread of the group polls.
        polls: Polls of each group so far.
    """

    connections: int
    threads: int
    active: int
    standby: int
    listeners: int
    queued: int
    unlistened_groups: Mapping[str, int] = field(default_factory=dict)
    polls: Mapping[str, int] = field(default_factory=dict)

    @property
    def unlistened(self) -> int:
        """Connections of groups that run something and have no listener."""
        return sum(self.unlistened_groups.values())

    def unheard_since(self, earlier: "Population") -> int:
        """Those of groups that had no listener at an earlier reading either, and have not polled since."""
        return sum(
            connections
            for group, connections in self.unlistened_groups.items()
            if group in earlier.unlistened_groups and self.polls.get(group) == earlier.polls.get(group)
        )

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
    return _population(session.row(POPULATION_QUERY))


def read_values_and_population(session: Session) -> tuple[dict[str, Any], Population]:
    """Reads what `read_tuple_values` reads, and the population, in one statement."""
    row = session.row(VALUES_AND_POPULATION_QUERY)
    places = len(CHANGEABLE)
    return dict(zip(CHANGEABLE, row[:places], strict=True)), _population(row[places:])


def _population(sums: Sequence[Any]) -> Population:
    *numbers, unlistened, polls = sums
    connections, threads, active, standby, listeners, queued = (int(value or 0) for value in numbers)
    return Population(connections, threads, active, standby, listeners, queued, _by_name(unlistened), _by_name(polls))


def _by_name(text: object) -> dict[str, int]:
    """Numbers by name from `NAME=NUMBER,...`; none from NULL."""
    return {name: int(number) for name, _, number in (one.partition("=") for one in str(text or "").split(",") if one)}


def read_counters(session: Session) -> dict[str, float]:
    """Reads all cumulative counters of the pool and of the server; our own statements are left out."""
    *sums, waits = session.row(POOL_QUERY)
    counters = {name: float(value or 0) for name, value in zip(STATISTICS, sums, strict=True)}
    counters |= _waits(str(waits or ""))
    of_all: dict[str, float] = {}
    own: dict[str, float] = {}
    for is_own, name, value in session.rows(STATUS_QUERY):
        (own if is_own else of_all)[str(name).upper()] = float(value)
    counters |= {
        name: (_sum_of(variables, of_all) - _sum_of(variables, own)) * US_PER_UNIT.get(name, 1.0)
        for name, variables in STATUS.items()
        if variables[0] in of_all
    }
    for name, ours in (("completed", session.statements), *_own_statements(session)):
        counters[name] -= ours
    return counters


def _sum_of(variables: Sequence[str], status: Mapping[str, float]) -> float:
    return sum(status.get(variable, 0.0) for variable in variables)


def _waits(text: str) -> dict[str, float]:
    """The waits that the pool was told of, each reason by itself and those that belong together."""
    told = {reason: float(count) for reason, count in _by_name(text).items()}
    together = {name: sum(told.get(reason, 0.0) for reason in reasons) for name, reasons in WAITS.items()}
    return together | {f"reported_{reason}": told[reason.upper()] for reason in WAIT_REASONS if reason.upper() in told}


def _own_statements(session: Session) -> Iterator[tuple[str, int]]:
    """What a session itself has sent of the kinds that are counted apart."""
    for kind, number in session.sent.items():
        if kind in STATEMENTS:
            yield f"statements_{kind}", number


def read_tuple_values(session: Session) -> dict[str, Any]:
    """Reads the values of the knobs' variables by knob, and of `MAX_THREADS`."""
    return dict(zip(CHANGEABLE, session.row(TUPLE_QUERY), strict=True))
