"""The tuner's clocks: one that never jumps, by which it waits, and that of the wall, by which hours are told."""

import time
from typing import Protocol

from poolpilot.env.server import PoolServer, VirtualTime
from poolpilot.env.servers.curve import CurveServer


class Clock(Protocol):
    """Tells the time."""

    def at_s(self) -> float:
        """Seconds since the clock was made."""

    def unix_s(self) -> float:
        """The wall clock."""


class RealClock:
    """The clocks of this host."""

    def __init__(self) -> None:
        self._began_s = time.monotonic()

    def at_s(self) -> float:
        """See `Clock.at_s`."""
        return time.monotonic() - self._began_s

    def unix_s(self) -> float:
        """See `Clock.unix_s`."""
        return time.time()


class ServerClock:
    """The time of a simulated server.

    Args:
        server: The server.
        unix_s: The wall clock at its beginning.
    """

    def __init__(self, server: PoolServer, unix_s: float = 0.0) -> None:
        self._server, self._unix_s = server, unix_s
        self._began_s = server.snapshot().time_s

    def at_s(self) -> float:
        """See `Clock.at_s`."""
        return self._server.snapshot().time_s - self._began_s

    def unix_s(self) -> float:
        """See `Clock.unix_s`."""
        return self._unix_s + self.at_s()


def clock_of(server: PoolServer) -> Clock:
    """The clock of a server."""
    return ServerClock(server) if isinstance(server, VirtualTime | CurveServer) else RealClock()
