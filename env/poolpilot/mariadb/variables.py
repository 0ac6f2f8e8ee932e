"""The pool's system variables: values, ranges here and now, and which need a restart or belong to a session."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poolpilot.env.knobs import STOCK_MAX_POOL_SIZE, Knob, KnobSpace
from poolpilot.errors import ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.session import Session

OLDEST_VERSION = (10, 5, 2)
"""First release with the THREAD_POOL_* tables and with CONNECTION ADMIN for the pool's variables."""

POOL_OF_THREADS = "pool-of-threads"

KNOB_VARIABLES = {
    "pool_size": ("THREAD_POOL_SIZE", "thread groups"),
    "oversubscribe": ("THREAD_POOL_OVERSUBSCRIBE", "threads a group"),
    "timer_interval_ms": ("THREAD_POOL_STALL_LIMIT", "milliseconds"),
    "idle_timeout_s": ("THREAD_POOL_IDLE_TIMEOUT", "seconds"),
}
"""Field of `PoolTuple` to the variable that holds it, and its unit."""

MAX_THREADS = "thread_pool_max_threads"

OTHER_VARIABLES = (
    MAX_THREADS.upper(),
    "THREAD_POOL_PRIO_KICKUP_TIMER",
    "THREAD_POOL_DEDICATED_LISTENER",
    "THREAD_POOL_EXACT_STATS",
    "THREAD_POOL_PRIORITY",
    "THREAD_HANDLING",
    "EXTRA_PORT",
    "EXTRA_MAX_CONNECTIONS",
    "MAX_CONNECTIONS",
    "THREAD_STACK",
)
"""Read and shown, never set."""

LONGEST_TIMER_INTERVAL_MS = 3_600_000
SET_BY_SQL = "SQL"

VARIABLES_QUERY = (
    "SELECT VARIABLE_NAME, COALESCE(GLOBAL_VALUE, SESSION_VALUE), DEFAULT_VALUE, NUMERIC_MIN_VALUE, NUMERIC_MAX_VALUE, "
    "READ_ONLY, VARIABLE_SCOPE, GLOBAL_VALUE_ORIGIN FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_NAME IN "
    f"({', '.join(repr(variable) for variable in (*(name for name, _ in KNOB_VARIABLES.values()), *OTHER_VARIABLES))})"
)


@dataclass(frozen=True, slots=True)
class PoolVariable:
    """A system variable.

    Attributes:
        name: Its name, in lower case as `SET GLOBAL` takes it.
        value: Its global value.
        default: Value the server was compiled with.
        low: Smallest value; None for names and flags.
        high: Largest value as the server's table states it, which for the size is more than it takes.
        restart_only: Whether a change needs a restart.
        per_session: Whether each session holds its own value.
        origin: Where the value came from: COMPILE-TIME, AUTO, CONFIG, COMMAND-LINE or SQL.
    """

    name: str
    value: str
    default: str
    low: int | None
    high: int | None
    restart_only: bool
    per_session: bool
    origin: str

    @property
    def start_value(self) -> str | None:
        """The value at the server's start; None once it was set by SQL."""
        return None if self.origin == SET_BY_SQL else self.value


def read_variables(session: Session) -> dict[str, PoolVariable]:
    """Reads every variable that matters to a pool, by lower-case name.

    Raises:
        ServerError: The server is not one that can be tuned; the text says what to change.
    """
    check_version(str(session.row("SELECT VERSION()")[0]))
    variables = {}
    for name, value, default, low, high, read_only, scope, origin in session.rows(VARIABLES_QUERY):
        variables[name.lower()] = PoolVariable(
            name=name.lower(),
            value=str(value),
            default=str(default),
            low=_optional(low),
            high=_optional(high),
            restart_only=read_only == "YES",
            per_session=scope == "SESSION",
            origin=str(origin),
        )
    handling = variables["thread_handling"].value
    if handling != POOL_OF_THREADS:
        raise ServerError(
            f"thread_handling of {session.where} is {handling}: there is no pool to tune; put "
            f"thread_handling={POOL_OF_THREADS} under [mariadb] into its my.cnf and restart it"
        )
    return variables


def check_version(text: str) -> None:
    """Refuses what is not MariaDB or too old.

    Raises:
        ServerError: It is.
    """
    match = re.match(r"(?:5\.5\.5-)?(\d+)\.(\d+)\.(\d+)(?:-\d+)?-MariaDB", text)
    oldest = ".".join(map(str, OLDEST_VERSION))
    if match is None:
        raise ServerError(f"the server says it is {text}; a MariaDB of at least {oldest} is needed")
    if tuple(map(int, match.groups())) < OLDEST_VERSION:
        raise ServerError(
            f"the server is MariaDB {text}; its pool shows its counters from {oldest} on: upgrade it to tune it"
        )


def knob_space(variables: Mapping[str, PoolVariable], cpus: int | None, spare_threads: int = 0) -> KnobSpace:
    """The ranges that the running server takes.

    The size may rise to 128 or to the value at the start, if that was larger (`TP_pool_generic::init`), whatever the
    server's own table says, and no further than `thread_pool_max_threads` has threads for. A knob's default is what a
    restart would bring back, where that is still known; else the compiled one, and of the size as many groups as
    processors or, where they are not known, what is in force.

    Args:
        variables: Of `read_variables`.
        cpus: Processors of the server; None where they are not known. No pool size is taken for their number.
        spare_threads: Threads that the largest size must leave.
    """
    size = variables["thread_pool_size"]
    taken = max(STOCK_MAX_POOL_SIZE, int(size.value))
    most = max(min(taken, _groups_with_threads(variables, spare_threads)), int(size.value))
    knobs = {}
    for name, (variable, unit) in KNOB_VARIABLES.items():
        current = variables[variable.lower()]
        low, high = current.low or 1, current.high or most
        unset = (cpus or current.value) if name == "pool_size" else current.default
        default = int(current.start_value or unset)
        ceiling = {"pool_size": most, "timer_interval_ms": max(LONGEST_TIMER_INTERVAL_MS, int(current.value))}.get(name)
        most_of_it = min(high, ceiling or high)
        knobs[name] = Knob(name, low, most_of_it, min(default, int(most_of_it)), unit, in_wholes=True)
    return KnobSpace(cpus, knobs, _threads_at_work(variables, spare_threads))


def _threads_at_work(variables: Mapping[str, PoolVariable], spare_threads: int) -> int:
    """Threads that there are beside those to spare, and at least what the tuple in force may ask for."""
    in_force = int(variables["thread_pool_size"].value) * (1 + int(variables["thread_pool_oversubscribe"].value))
    return max(int(variables[MAX_THREADS].value) - spare_threads, in_force)


def _groups_with_threads(variables: Mapping[str, PoolVariable], spare_threads: int) -> int:
    """Groups that there are threads for, with as many in each as are in force or by default, whichever is more."""
    oversubscribe = variables["thread_pool_oversubscribe"]
    threads = int(variables[MAX_THREADS].value) - spare_threads
    return threads // (1 + max(int(oversubscribe.value), int(oversubscribe.default or 0)))


def tuple_of(values: Mapping[str, Any]) -> PoolTuple:
    """The tuple from the values of the knobs' variables."""
    return PoolTuple.from_dict(
        {name: int(values[name]) if name != "idle_timeout_s" else float(values[name]) for name in KNOB_VARIABLES}
    )


def _optional(value: object) -> int | None:
    return None if value is None else int(str(value))
