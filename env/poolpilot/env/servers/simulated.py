"""The simulated pool as a pool server: the live one's snapshots, in virtual time."""

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Any, Self

from poolpilot.env.knobs import STOCK_MAX_POOL_SIZE, KnobSpace
from poolpilot.env.servers.native_core import native_errors, snapshot_of
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.native_pool._core import run_all as native_run_all
from poolpilot.native_pool.handling import ConnectionHandling
from poolpilot.native_pool.simulation import RAMP_S, LoadChange, Machine, simulated_pool
from poolpilot.native_pool.workload import Workload

MOST_POOL_SIZE = 4096
"""Largest pool size that a simulated pool can be given."""

ANOTHER_SEED = 1_000_003
"""What a load that begins anew adds to its seed: workloads that differ by one draw nothing alike."""

_errors_told = partial(native_errors, "the simulated pool cannot go on", RuntimeError)


class SimulatedServer:
    """A pool under load in virtual time: the same seed gives the same run.

    One thread uses it at a time: in the middle of a run, another one's call is a `ServerError`.

    Args:
        workload: What is sent; `workload.cpus` are the processors of the machine.
        machine: What the machine and the pool's own work cost.
        changes: Changes of the load, in order of time.
        cycle_s: Seconds after which the changes repeat themselves; 0: they do not.
        initial: Tuple in force at first; the default one if None.
        max_pool_size: Largest pool size the pool can be set to.
        handling: Which thread serves a connection; one of a thread group if None.
        backlog_limit: Arrivals of an open loop that may wait for a connection, further ones are given up; the load
            generator's default if None.
        **pool_options: Further start-up options of `native_pool.SimulatedPool`, such as `throttle`.

    Raises:
        SettingError: The initial tuple, the workload, the cycle or an option is outside its range.

    Examples:
        >>> from poolpilot.env import observe
        >>> from poolpilot.native_pool import RequestClass, Step
        >>> query = RequestClass("query", (Step("cpu", us=100.0), Step("wait", us=4000.0)))
        >>> server = SimulatedServer(Workload("waits", "mine", (query,), connections=32, cpus=2))
        >>> few = observe(server, 2.0).window.throughput_per_s
        >>> in_force = server.apply(PoolTuple(32, 3, 500))
        >>> observe(server, 2.0).window.throughput_per_s > 2 * few
        True
    """

    def __init__(
        self,
        workload: Workload,
        machine: Machine | None = None,
        *,
        changes: Sequence[LoadChange] = (),
        cycle_s: float = 0.0,
        initial: PoolTuple | None = None,
        max_pool_size: int = STOCK_MAX_POOL_SIZE,
        handling: ConnectionHandling | None = None,
        backlog_limit: int | None = None,
        **pool_options: Any,
    ) -> None:
        if not 0.0 <= cycle_s < math.inf:
            raise SettingError(f"cycle_s is {cycle_s}, but must be a finite time of at least 0 seconds")
        for name, value in (("cpus", workload.cpus), ("max_pool_size", max_pool_size)):
            if value < 1:
                raise SettingError(f"{name} is {value}, but must be at least 1")
        self.workload = workload
        self.cycle_s = cycle_s
        self._knobs = KnobSpace.stock(workload.cpus, max_pool_size)
        first = self._knobs.default_tuple() if initial is None else initial
        self._knobs.check(first)
        self._begun = 0
        self._options = {
            "machine": machine,
            "changes": changes,
            "backlog_limit": backlog_limit,
            "max_pool_size": max_pool_size,
            **({} if handling is None else handling.model_dump()),
            **pool_options,
        }
        with _errors_told():
            self._pool = simulated_pool(workload, **self._options, **first.as_dict())

    @property
    def knobs(self) -> KnobSpace:
        """The knobs and the processors of the machine."""
        return self._knobs

    def tuple_in_force(self) -> PoolTuple:
        """The tuple in force."""
        with _errors_told():
            return PoolTuple.from_dict(self._pool.pool_tuple)

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        """Sets a tuple.

        Raises:
            SettingError: The tuple is outside the ranges.
        """
        self._knobs.check(pool_tuple)
        with _errors_told():
            return PoolTuple.from_dict(self._pool.set_tuple(**pool_tuple.as_dict()))

    def set_knobs(self, **knobs: Any) -> dict[str, Any]:
        """Changes knobs besides the tuple, such as `admission_limit` or `weights`.

        Args:
            **knobs: Those that change, as keywords of `native_pool.SimulatedPool.set_knobs`.

        Returns:
            All that are in force.

        Raises:
            SettingError: A knob is outside its range; all stay as they were.
        """
        with _errors_told():
            return self._pool.set_knobs(**knobs)

    def begin_load_anew(self) -> None:
        """Where a rate is offered, begins the simulation anew under what is in force, with other draws."""
        if self.workload.rate_per_s is None:
            return
        self._begun += 1
        drawn = replace(self.workload, seed=self.workload.seed + ANOTHER_SEED * self._begun)
        with _errors_told():
            knobs = self._pool.set_knobs()
            self._pool = simulated_pool(drawn, **self._options, **self._pool.pool_tuple)
            self._pool.set_knobs(**knobs)

    def snapshot(self) -> Snapshot:
        """What the pool has counted since it started."""
        with _errors_told():
            return snapshot_of(self._pool.snapshot(), "simulated")

    def run_for(self, seconds: float) -> None:
        """Simulates so many seconds.

        Raises:
            ServerError: Nothing can happen any more: the text names who waits for whom.
            SettingError: The time is negative.
        """
        if seconds < 0.0:
            raise SettingError(f"a server cannot run for {seconds} s; the time must be at least 0")
        with _errors_told():
            self._pool.run(seconds)

    def run_requests(self, requests: int, most_s: float = 1e6, least_s: float = 0.0) -> None:
        """Simulates until so many more requests are answered, for `least_s` to `most_s` seconds.

        Raises:
            ServerError: Nothing can happen any more: the text names who waits for whom.
        """
        with _errors_told():
            self._pool.run(most_s, requests, least_s)

    def thread_changes(self) -> float:
        """Threads created and woken because of a stall since the pool started."""
        with _errors_told():
            return float(self._pool.thread_changes)

    @property
    def events(self) -> int:
        """Events simulated so far."""
        with _errors_told():
            return self._pool.events

    @property
    def ramp_left_s(self) -> float:
        """Virtual seconds until every connection of a closed loop has begun to send; 0 from then on."""
        ramp_s = RAMP_S if self.workload.rate_per_s is None else 0.0
        with _errors_told():
            return max(ramp_s - self._pool.now_s, 0.0)

    def close(self) -> None:
        """Does nothing: a simulation holds neither threads nor sockets."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def run_all(
    servers: Sequence[SimulatedServer],
    seconds: Sequence[float],
    requests: int | None = None,
    threads: int | None = None,
    least_s: Sequence[float] | None = None,
) -> None:
    """Runs different servers at once on several processors; Ctrl-C ends it within a fraction of a second.

    Args:
        servers: The servers, each listed once.
        seconds: Virtual seconds of each.
        requests: A server stops earlier once it has answered so many more requests.
        threads: Threads to run on; as many as this process may use processors if None.
        least_s: Virtual seconds of each before which it does not stop for that; 0 if None.

    Raises:
        ServerError: One of them cannot go on; the text says which and who waits for whom.
        SettingError: A server is listed twice.
        KeyboardInterrupt: The user ended it; the servers stand where they were stopped.
    """
    count = len(os.sched_getaffinity(0)) if threads is None else threads
    with _errors_told():
        pools = [server._pool for server in servers]
        least = [0.0] * len(pools) if least_s is None else list(least_s)
        errors = native_run_all(pools, seconds=list(seconds), requests=requests, least_s=least, threads=count)
    for server, error in zip(servers, errors, strict=True):
        if error is not None:
            raise ServerError(f"the simulated pool under {server.workload.name!r} cannot go on: {error}")
