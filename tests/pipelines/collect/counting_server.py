"""A server to whose clients nobody listens, as a MariaDB of one's own: it counts what is in it, in virtual time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.featurizer.window import IN_SYSTEM

FIRST = PoolTuple(3, 3, 500)
CONNECTIONS = 32
BEST = 16


class CountingServer(CurveServer):
    """Fastest with 16 groups, whatever else is set.

    Args:
        per_s: Statements a second with 16 groups.
        known: Whether its processors are.
        ends_at: What it raises at which call of `run_for`; it serves on afterwards.
    """

    def __init__(
        self, per_s: float = 4000.0, *, known: bool = True, ends_at: tuple[int, BaseException] | None = None
    ) -> None:
        points = [(1, 0.1 * per_s), (BEST, per_s), (128, 0.3 * per_s)]
        super().__init__(points, cpus=2, connections=CONNECTIONS, noise=0.01, seed=1, initial=FIRST)
        self.set: list[PoolTuple] = []
        self._known = known
        self._ends_at = ends_at
        self._calls = 0
        self._in_system_us = 0.0

    @property
    def knobs(self) -> KnobSpace:
        known = super().knobs
        return known if self._known else replace(known, processors=None)

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        self.set.append(pool_tuple)
        return super().apply(pool_tuple)

    def run_for(self, seconds: float) -> None:
        self._calls += 1
        if self._ends_at is not None and self._calls == self._ends_at[0]:
            raise self._ends_at[1]
        super().run_for(seconds)
        self._in_system_us += CONNECTIONS * seconds * 1e6

    def snapshot(self) -> Snapshot:
        seen = super().snapshot()
        counters = {
            **seen.counters,
            "process_cpu_us": 100.0 * seen.counters["completed"],
            IN_SYSTEM: self._in_system_us,
        }
        gauges = {"connections": float(CONNECTIONS), "cpus": 2.0}
        return replace(seen, counters=counters, gauges=gauges, histograms={}, server_kind="mariadb")


def opened(server: CountingServer) -> Callable[..., Any]:
    """What stands for `mariadb_target`: the same server, however often it is opened."""

    @contextmanager
    def target(*_: object) -> Iterator[Target]:
        yield Target(server, Objective(signal="time_in_system"), "db1:3306")

    return target
