"""A server that gives methods the windows that they may see: what a replay of recorded or simulated windows is."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
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


class ShownServer:
    """A server that gives methods the windows that they may see, and no others.

    Args:
        windows: Windows of the workload.
    """

    def __init__(self, windows: ShownWindows) -> None:
        self._windows = windows
        self._tuple = self.knobs.default_tuple()

    @property
    def knobs(self) -> KnobSpace:
        """The knobs of the server."""
        return self._windows.limits

    def tuple_in_force(self) -> PoolTuple:
        """The tuple in force."""
        return self._tuple

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        """Sets a tuple.

        Raises:
            SettingError: The tuple is outside the ranges.
        """
        self.knobs.check(pool_tuple)
        self._tuple = pool_tuple
        return self._tuple

    def run_for(self, seconds: float) -> None:
        """Nothing happens between windows."""

    def observe(self, seconds: float) -> Window:  # noqa: ARG002
        """The window of the tuple in force, whatever its length."""
        return self._windows.shown([self._tuple])[self._tuple]

    def close(self) -> None:
        """There is nothing to close."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
