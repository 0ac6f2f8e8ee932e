"""A server that gives methods the windows that they may see: what a replay of recorded or simulated windows is."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.replay_server import ReplayServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window


class ShownWindows(Protocol):
    """Windows of one workload that methods may see."""

    @property
    def limits(self) -> KnobSpace:
        """The knobs of the server."""

    @property
    def objective(self) -> Objective:
        """What counts."""

    def shown(self, tuples: Sequence[PoolTuple]) -> Mapping[PoolTuple, Window]:
        """One window of each tuple, the same whoever asks."""


class ShownServer(ReplayServer):
    """A server that gives methods the windows that they may see, and no others.

    Args:
        windows: Windows of the workload.
    """

    def __init__(self, windows: ShownWindows) -> None:
        super().__init__(windows.limits)
        self._windows = windows

    def observe(self, seconds: float) -> Window:  # noqa: ARG002
        """The window of the tuple in force, whatever its length."""
        return self._windows.shown([self._tuple])[self._tuple]
