"""A server that holds a tuple and has no time: what replays windows is one."""

from types import TracebackType
from typing import Self

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.pool_tuple import PoolTuple


class ReplayServer:
    """The part of a source of windows that does not depend on where they come from.

    Args:
        knobs: The knobs of the server that is replayed.
        initial: Tuple in force at first; the default one if None.

    Raises:
        SettingError: The tuple is outside the ranges.
    """

    def __init__(self, knobs: KnobSpace, initial: PoolTuple | None = None) -> None:
        self._knobs = knobs
        self._tuple = knobs.default_tuple() if initial is None else initial
        knobs.check(self._tuple)

    @property
    def knobs(self) -> KnobSpace:
        """The knobs of the server that is replayed."""
        return self._knobs

    def tuple_in_force(self) -> PoolTuple:
        """The tuple in force."""
        return self._tuple

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        """Sets a tuple.

        Raises:
            SettingError: The tuple is outside the ranges.
        """
        self._knobs.check(pool_tuple)
        self._tuple = pool_tuple
        return self._tuple

    def run_for(self, seconds: float) -> None:
        """Does nothing: a replay has no state that could settle."""

    def close(self) -> None:
        """Does nothing: a replay holds neither threads nor sockets."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
