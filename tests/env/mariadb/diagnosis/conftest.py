"""A server of which a test says what it answers, and facts that a test makes up."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from poolpilot.env.mariadb.counters import Population
from poolpilot.env.mariadb.diagnosis.facts import Facts, PoolLimits
from poolpilot.env.mariadb.diagnosis.pool_reading import PoolReading, QueuedRequest, ThreadGroup
from poolpilot.env.mariadb.session import Session
from poolpilot.errors import ServerError

Rows = Sequence[tuple[Any, ...]]


class ScriptedSession(Session):
    """Answers a statement by the first of its texts that the statement contains; refuses what has no answer.

    Args:
        answers: Part of a statement to its rows; for `named_rows` the first row holds the names.
    """

    def __init__(self, answers: Mapping[str, Rows]) -> None:
        self.answers = dict(answers)
        self.where = "db1:3307"
        self.asked: list[str] = []
        self.sent = Counter()

    def _answer(self, statement: str, values: Sequence[object] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
        assert not values, "nothing here is asked with values"
        self.asked.append(statement)
        for part, rows in self.answers.items():
            if part in statement:
                return (list(rows[0]), list(rows[1:])) if part.startswith("SHOW") else ([], list(rows))
        raise ServerError(f"{self.where} refuses a statement")


SPAN_S = 2.0
STOCK = PoolLimits(size=2, oversubscribe=3, stall_limit_ms=500, most_threads=65_536)
SMALL = PoolLimits(size=1, oversubscribe=1, stall_limit_ms=500, most_threads=4)
AT_EASE = Population(connections=8, threads=4, active=1, standby=1, listeners=1, queued=0)


def group(
    number: int = 0, *, threads: int = 4, active: int = 1, standby: int = 1, queued: int = 0, listens: bool = True
) -> ThreadGroup:
    """A group that has taken nothing up yet."""
    return ThreadGroup(number, 8, threads, active, standby, queued, listens, 0)


def facts_of(
    *groups: ThreadGroup,
    dequeued: int = 1000,
    queue: Sequence[QueuedRequest] = (),
    population: Population = AT_EASE,
    server_share: float | None = 0.3,
    idle_cpus: float = 1.0,
    row_waits: int = 0,
    limits: PoolLimits = STOCK,
    **further: Any,
) -> Facts:
    """What two looks at these groups saw, each of which took up `dequeued` requests in between.

    Args:
        groups: The groups, the same at both looks; two at ease if none is given.
        dequeued: Requests that each of them took up.
        queue: Queued requests at the second look.
        population: What every sample in between saw.
        server_share: Share of its two processors that the server used; None where it runs on another host.
        idle_cpus: Processors of its machine that were idle.
        row_waits: Transactions that waited for a row at both looks.
        limits: What the pool may do.
        further: Other fields of `Facts`.
    """
    shown = groups or (group(0), group(1))
    is_here = server_share is not None
    before = PoolReading(100.0, shown, row_waits=row_waits, cpu_us=0.0 if is_here else None)
    after = PoolReading(
        100.0 + SPAN_S,
        tuple(replace(one, dequeued=dequeued) for one in shown),
        tuple(queue),
        row_waits=row_waits,
        cpu_us=None if server_share is None else server_share * 2 * SPAN_S * 1e6,
        idle_us=idle_cpus * SPAN_S * 1e6 if is_here else None,
    )
    before = replace(before, idle_us=0.0 if is_here else None)
    return Facts(before, after, (population,) * 20, limits, cpus=2, **further)
