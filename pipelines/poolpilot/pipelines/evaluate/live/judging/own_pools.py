"""A simulated pool for every tuple: what one tuple has made of a pool, no other is judged by.

A pool remembers: a latch that has collapsed under one tuple stays so under the next. Virtual time costs nothing to have
twice, so there each tuple follows the default on a pool of its own; on a live server, which has one, tuples take turns.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.server import OfferedLoad, PoolServer, VirtualTime
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.pipelines.evaluate.stage import Stage


def judging_server(stage: Stage, warm_up_s: float) -> PoolServer:
    """A server on which tuples are measured: in virtual time each on a pool of its own, else in turns on one.

    Args:
        stage: The workload with its server.
        warm_up_s: Seconds that each of several pools has served under the default before its tuple is set.

    Raises:
        ServerError: The server or its load failed.
    """
    return OwnPools(stage.open_server, warm_up_s) if stage.in_virtual_time else stage.open_server()


class OwnPools:
    """A server that serves each tuple with a pool which has seen no other but the default.

    Args:
        open_pool: Starts a pool under load, in virtual time, with the default tuple in force.
        warm_up_s: Seconds that a pool serves before its tuple is set.
    """

    def __init__(self, open_pool: Callable[[], PoolServer], warm_up_s: float) -> None:
        self._open_pool = open_pool
        self._warm_up_s = warm_up_s
        self._pool = self._warm()
        self._pools = {self._pool.tuple_in_force(): self._pool}

    @property
    def knobs(self) -> KnobSpace:
        """Those of every pool."""
        return self._pool.knobs

    def tuple_in_force(self) -> PoolTuple:
        """The tuple of the pool that serves."""
        return self._pool.tuple_in_force()

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        """Lets the pool of a tuple serve from now on.

        Raises:
            SettingError: The tuple is outside the ranges.
        """
        if pool_tuple not in self._pools:
            self._pools[pool_tuple] = self._warm()
            self._pools[pool_tuple].apply(pool_tuple)
        self._pool = self._pools[pool_tuple]
        return self._pool.tuple_in_force()

    def begin_load_anew(self) -> None:
        """See `OfferedLoad`."""
        if isinstance(self._pool, OfferedLoad):
            self._pool.begin_load_anew()

    def snapshot(self) -> Snapshot:
        """What the pool that serves has counted since it started."""
        return self._pool.snapshot()

    def run_for(self, seconds: float) -> None:
        """Lets the pool of the tuple in force serve, that one alone."""
        self._pool.run_for(seconds)

    def run_requests(self, requests: int, most_s: float, least_s: float = 0.0) -> None:
        """See `VirtualTime`."""
        assert isinstance(self._pool, VirtualTime)
        self._pool.run_requests(requests, most_s, least_s)

    def thread_changes(self) -> float:
        """See `VirtualTime`."""
        assert isinstance(self._pool, VirtualTime)
        return self._pool.thread_changes()

    def close(self) -> None:
        """Closes every pool."""
        for pool in self._pools.values():
            pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _warm(self) -> PoolServer:
        pool = self._open_pool()
        pool.run_for(self._warm_up_s)
        return pool
