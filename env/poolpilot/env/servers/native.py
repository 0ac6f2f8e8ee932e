"""The embedded live pool under its load, as a pool server."""

import resource
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

from poolpilot.env.knobs import STOCK_MAX_POOL_SIZE, KnobSpace
from poolpilot.env.servers.native_core import native_errors, snapshot_of
from poolpilot.env.servers.processors import split_cpus
from poolpilot.errors import LoadError, ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.native_pool._core import LivePool
from poolpilot.native_pool.handling import ConnectionHandling
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.load_report import LoadReport
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import Workload

SPARE_DESCRIPTORS = 64
"""Descriptors besides those of connections and groups: the interpreter's files, libraries, the load's pipes."""

MAX_CONNECTIONS = next(int(row["default"]) for row in LivePool.fields() if row["name"] == "max_connections")
"""Most clients of a pool that is told no other number."""

MOST_OF_A_GROUP = 3
"""Descriptors of a thread group, or of a pool of the hybrid handler: epoll, stop event, gate."""

_errors_told = partial(native_errors, "the live pool or its load failed", LoadError, RuntimeError, OSError)


class Pinning(NamedTuple):
    """Which processors, by their numbers, the two halves run on.

    Attributes:
        server: Those of the pool's threads; the first `workload.cpus` allowed ones if None.
        load: Those of the load generator; all if None.
    """

    server: Sequence[int] | None = None
    load: Sequence[int] | None = None


UNPINNED = Pinning()


class NativeServer:
    """A live pool in this process and its load in others; all end with `close`.

    Args:
        workload: What is sent.
        pinning: Which processors pool and load run on.
        load_settings: How the load is put on, such as in how many processes; the defaults if None.
        address_kind: "unix" or "tcp" (loopback).
        initial: Tuple in force at first; the default one if None.
        max_pool_size: Largest pool size the pool can be set to.
        handling: Which thread serves a connection; one of a thread group if None.
        pool_options: Further start-up options of `native_pool.LivePool`, such as `throttle` or `instrument`.

    Raises:
        SettingError: The initial tuple is outside the ranges, or an option is, or the workload has more connections
            than the pool's `max_connections`, or wants more processors than there are.
        ServerError: Too few descriptors, or the pool or the load did not start.
    """

    def __init__(
        self,
        workload: Workload,
        *,
        pinning: Pinning = UNPINNED,
        load_settings: LoadSettings | None = None,
        address_kind: Literal["unix", "tcp"] = "unix",
        initial: PoolTuple | None = None,
        max_pool_size: int = STOCK_MAX_POOL_SIZE,
        handling: ConnectionHandling | None = None,
        **pool_options: Any,
    ) -> None:
        self.workload = workload
        pinned = split_cpus(workload.cpus)[0] if pinning.server is None else list(pinning.server)
        self._knobs = KnobSpace.stock(len(pinned), max_pool_size)
        first = self._knobs.default_tuple() if initial is None else initial
        self._knobs.check(first)
        with _errors_told(), ExitStack() as opened:
            self._pool = LivePool(
                address=_new_address(address_kind, opened),
                cpus=pinned,
                max_pool_size=max_pool_size,
                class_names=[request_class.name for request_class in workload.classes],
                **first.as_dict(),
                **({} if handling is None else handling.model_dump()),
                **pool_options,
            )
            opened.callback(self._pool.close)
            check_connections(workload.connections, pool_options.get("max_connections", MAX_CONNECTIONS))
            reserve_descriptors(workload.connections + MOST_OF_A_GROUP * max_pool_size + SPARE_DESCRIPTORS)
            self._pool.start()
            self._new_load = partial(Load, self._pool.address, workload, cpus=pinning.load, settings=load_settings)
            self._load = self._new_load()
            opened.callback(lambda: self._load.stop())
            self._opened = opened.pop_all()

    @property
    def knobs(self) -> KnobSpace:
        """The knobs and the processors the pool is pinned to."""
        return self._knobs

    def tuple_in_force(self) -> PoolTuple:
        """The tuple as read from the pool.

        Raises:
            ServerError: The pool is closed.
        """
        return self.snapshot().pool_tuple

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        """Sets a tuple and reads back what is in force.

        Raises:
            SettingError: The tuple is outside the ranges.
            ServerError: The pool could not take it, for want of descriptors, or it is closed.
        """
        self._knobs.check(pool_tuple)
        with _errors_told():
            return PoolTuple.from_dict(self._pool.set_tuple(**pool_tuple.as_dict()))

    def set_knobs(self, **knobs: Any) -> dict[str, Any]:
        """Changes knobs besides the tuple, such as `admission_limit` or `weights`.

        Args:
            **knobs: Those that change, as keywords of `native_pool.LivePool.set_knobs`.

        Returns:
            All that are in force.

        Raises:
            SettingError: A knob is outside its range; all stay as they were.
            ServerError: The pool is closed.
        """
        with _errors_told():
            return self._pool.set_knobs(**knobs)

    def snapshot(self) -> Snapshot:
        """What the pool has counted since it started.

        Raises:
            ServerError: The pool is closed.
        """
        with _errors_told():
            return snapshot_of(self._pool.snapshot(), "native")

    def run_for(self, seconds: float) -> None:
        """Sleeps while the pool serves.

        Raises:
            ServerError: As soon as a process of the load dies.
        """
        with _errors_told():
            self._load.run_for(seconds)

    def begin_load_anew(self) -> None:
        """Where a rate is offered, ends the load and starts it again; its report begins anew too.

        Raises:
            ServerError: The load generator has died, or does not start again.
        """
        if self.workload.rate_per_s is None:
            return
        with _errors_told():
            self._load.stop()
            self._load = self._new_load()

    def load_report(self) -> LoadReport:
        """What the load generator has sent and got back so far; after `close` the final account.

        Raises:
            ServerError: The load generator has died.
        """
        with _errors_told():
            return self._load.report()

    def close(self) -> None:
        """Stops the load and the pool; a second call does nothing.

        Raises:
            ServerError: The load generator had died; everything is closed all the same.
        """
        with _errors_told():
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        except ServerError:
            if error is None:  # else the first error is the one to tell
                raise


def check_connections(connections: int, most: int) -> None:
    """Refuses a workload that the pool would turn away.

    Raises:
        SettingError: It has more connections than the pool takes.
    """
    if connections > most:
        raise SettingError(
            f"the workload's connections is {connections}, but must be in 1..{most}: "
            "give the pool a larger max_connections"
        )


def reserve_descriptors(wanted: int) -> None:
    """Raises the soft limit of open files if needed.

    Raises:
        ServerError: The hard limit is lower; the text says how to raise it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise ServerError(
            f"{wanted} open files are needed, but this process may have {hard}; "
            f"run `ulimit -n {wanted}` as root first, or lower the workload's connections"
        )
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _new_address(kind: Literal["unix", "tcp"], opened: ExitStack) -> str:
    if kind == "tcp":
        return "tcp:127.0.0.1:0"
    folder = opened.enter_context(TemporaryDirectory(prefix="poolpilot-"))
    return f"unix:{Path(folder) / 'pool.sock'}"
