"""What is dropped after a change of the tuple: the time in which the pool still makes threads for it.

The pool has settled once a timer interval has passed in which it created no thread and woke none because of a stall; a
pool that lives on its stalls never does, so there is a limit. An interval holds one tick of a timer that runs free.
"""

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.server import AnyServer, VirtualTime, WindowSource
from poolpilot.featurizer.pool_tuple import PoolTuple

LATE = 1.01
"""Intervals in which a tick comes for certain: a timer is a little late."""


class SettleSettings(BaseModel):
    """What is dropped after a change of the tuple, and how many ticks of the timer a window spans."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    settle_s: float = Field(
        default=0.1, ge=0.0, description="Seconds dropped at least after a change of the configuration."
    )
    settle_intervals: float = Field(
        default=3.0, ge=0.0, description="Timer intervals dropped at most while the pool still makes threads."
    )
    max_settle_s: float = Field(default=2.0, ge=0.0, description="Seconds dropped at most.")
    window_ticks: float = Field(
        default=2.0, ge=0.0, description="Ticks of the timer that a window spans at least: stalls show only then."
    )

    def longest_settle_s(self, pool_tuple: PoolTuple) -> float:
        """Seconds after which settling ends whatever the pool does."""
        return min(max(self.settle_s, self.settle_intervals * interval_s(pool_tuple)), self.max_settle_s)

    def least_window_s(self, pool_tuple: PoolTuple) -> float:
        """Seconds that a window under this tuple lasts at least."""
        return self.window_ticks * interval_s(pool_tuple)


def interval_s(pool_tuple: PoolTuple) -> float:
    """Seconds in which the timer ticks once."""
    return LATE * pool_tuple.timer_interval_ms / 1000.0


class Settling:
    """Says how long a server should serve before it is measured again; whoever asks lets it serve.

    Args:
        pool_tuple: The tuple that was set just now.
        settings: How long settling may take.
    """

    def __init__(self, pool_tuple: PoolTuple, settings: SettleSettings) -> None:
        self.spent_s = 0.0
        self._least_s = settings.settle_s
        self._longest_s = settings.longest_settle_s(pool_tuple)
        self._interval_s = interval_s(pool_tuple)
        self._changes: float | None = None

    def next_s(self, thread_changes: float) -> float:
        """Seconds to serve next; 0 once the server has settled.

        Args:
            thread_changes: Threads created and woken because of a stall so far.
        """
        if self._changes == thread_changes:
            return 0.0
        least = self.spent_s < self._least_s
        wanted_s = self._least_s if least else self._interval_s
        # An interval that the limit cuts short says nothing, and neither does the least time.
        self._changes = None if least else thread_changes
        served_s = max(min(wanted_s, self._longest_s - self.spent_s), 0.0)
        self.spent_s += served_s
        return served_s


def settle(server: AnyServer, pool_tuple: PoolTuple, settings: SettleSettings) -> float:
    """Lets a server serve until it has settled under the tuple in force; returns the seconds that took.

    Raises:
        ServerError: The server stopped.
    """
    settling = Settling(pool_tuple, settings)
    while seconds := settling.next_s(thread_changes(server)):
        server.run_for(seconds)
    return settling.spent_s


def thread_changes(server: AnyServer) -> float:
    """Threads a server has created and woken because of a stall since it started; 0 where it does not count them.

    Raises:
        ServerError: The server stopped.
    """
    if isinstance(server, WindowSource):
        return 0.0
    if isinstance(server, VirtualTime):
        return server.thread_changes()
    counters = server.snapshot().counters
    return sum(counters.get(name, 0.0) for name in ("thread_creations", "wakes_stall"))
