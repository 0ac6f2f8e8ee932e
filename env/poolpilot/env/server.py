"""What a pool server and a source of recorded windows must be able to do."""

from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.featurizer.window import Window


class Tunable(Protocol):
    """What every server has: knobs to set and time to pass."""

    @property
    def knobs(self) -> KnobSpace:
        """The knobs and their ranges here and now."""

    def tuple_in_force(self) -> PoolTuple:
        """The tuple as read from the server."""

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        """Sets a tuple and reads back what is in force.

        Raises:
            SettingError: The tuple is outside the ranges.
            ServerError: The server did not take it.
        """

    def run_for(self, seconds: float) -> None:
        """Lets the server serve; real time on a live server, virtual time elsewhere."""

    def close(self) -> None:
        """Gives back every thread, process and socket; a second call does nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class PoolServer(Tunable, Protocol):
    """A server that counts: the difference of two snapshots is a window."""

    def snapshot(self) -> Snapshot:
        """What it has counted since it started."""


@runtime_checkable
class VirtualTime(Protocol):
    """A server whose time is simulated: it can stop after a number of requests, and observing it costs nothing."""

    def run_requests(self, requests: int, most_s: float, least_s: float = 0.0) -> None:
        """Lets the server serve until so many more requests are answered, for `least_s` to `most_s` seconds."""

    def thread_changes(self) -> float:
        """Threads created and woken because of a stall since it started."""


@runtime_checkable
class OfferedLoad(Protocol):
    """A server whose load may offer a rate: what it could not serve under one tuple is sent under the next one."""

    def begin_load_anew(self) -> None:
        """Gives up what waits to be sent, so that the next window is of the tuple in force alone.

        A closed loop, of which nothing waits outside the server, goes on as it is.

        Raises:
            ServerError: The load does not start again.
        """


@runtime_checkable
class WindowSource(Tunable, Protocol):
    """A server that has only whole windows to give, such as a replay of records."""

    def observe(self, seconds: float) -> Window:
        """Lets the server serve and returns the window of that time."""


AnyServer = PoolServer | WindowSource
