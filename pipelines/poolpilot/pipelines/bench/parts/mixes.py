"""The three mixes of Trub (priorities) as step programs: two classes of statements that share a pool of one processor.

Trub (priorities; docs/references.md) runs sysbench's classes two by two, 1,024 connections each, and moves the weight
of one of the two queues from 0 to 1. A program is one statement; which of them are part of a transaction, a pool of two
levels is told by their class.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from poolpilot.native_pool.workload import RequestClass, Step, Workload

WEIGHTS = tuple(step / 10 for step in range(11))
"""Weights of a mix's second class, as Trub has them."""

ROWS = 4
"""Rows that those who write want, each held until its change is on the disk."""


def _cpu(us: float) -> Step:
    return Step("cpu", us=us, variation=0.5)


def _disk(us: float) -> Step:
    return Step("wait", us=us, variation=0.5, kind="disk_io", reported=True)


def _in_row(latch: int, disk_us: float, waiter_cost_us: float) -> tuple[Step, ...]:
    """A wait for the disk under the lock of a row, whose holder walks the list of those who wait for it."""
    acquire = Step("acquire", latch=latch, spread=ROWS, waiter_cost_us=waiter_cost_us, reported=True)
    return acquire, _disk(disk_us), Step("release", latch=latch, spread=ROWS)


POINT_SELECT = RequestClass("point_select", (_cpu(60.0),))
READ_ONLY = RequestClass("read_only", (_cpu(70.0),))
READ_WRITE = RequestClass("read_write", (_cpu(40.0), _disk(13_000.0), *_in_row(0, 100.0, 0.5), _cpu(20.0)))
WRITE_ONLY = RequestClass("write_only", (_cpu(60.0), *_in_row(ROWS, 3000.0, 14.0), _cpu(60.0)))


@dataclass(frozen=True, slots=True)
class Mix:
    """Two classes that share a pool.

    Attributes:
        first: The class whose weight is what is left.
        second: The class whose weight is set.
    """

    first: RequestClass
    second: RequestClass

    @property
    def name(self) -> str:
        """The mix in words."""
        return f"{self.first.name} + {self.second.name}"

    @property
    def class_names(self) -> tuple[str, str]:
        """Names of the two."""
        return self.first.name, self.second.name

    def closed_loop(self, connections: int, cpus: int = 1, seed: int = 0) -> Workload:
        """So many connections of each class, each of which sends its next request once the last is answered."""
        classes = (self.first, self.second)
        return Workload(self.name, "mixes", classes, connections=2 * connections, cpus=cpus, seed=seed)


MIXES: Mapping[str, Mix] = {
    mix.name: mix for mix in (Mix(POINT_SELECT, READ_WRITE), Mix(READ_ONLY, WRITE_ONLY), Mix(POINT_SELECT, READ_ONLY))
}
"""By name, in the order of Trub's figures 6 to 8."""
