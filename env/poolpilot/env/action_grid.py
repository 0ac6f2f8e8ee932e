"""The grid: the absolute, log-spaced list of tuples that an agent chooses from, masked per server."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.knobs import KnobSpace, Ranges
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

KEPT_LIMITS = 64
"""Servers whose masks are kept."""


@dataclass(frozen=True)
class ActionGrid:
    """All combinations of a few values of each core knob, in product order.

    Attributes:
        sizes: Pool sizes, rising.
        oversubscribes: Values of oversubscribe, rising.
        timer_intervals_ms: Timer intervals in milliseconds, rising.
        version: Raised whenever an action index changes its meaning.

    Examples:
        >>> grid = ActionGrid(sizes=(1, 2, 4), oversubscribes=(3,), timer_intervals_ms=(10, 500))
        >>> print(len(grid), grid.tuples[3], grid.nearest(PoolTuple(100, 3, 400)))
        6 (2, 3, 500) (4, 3, 500)
        >>> grid.mask(KnobSpace.stock(cpus=2, max_pool_size=2)).tolist()
        [True, True, True, True, False, False]
    """

    sizes: tuple[int, ...]
    oversubscribes: tuple[int, ...]
    timer_intervals_ms: tuple[int, ...]
    version: int = 1

    def __len__(self) -> int:
        return len(self.tuples)

    @cached_property
    def tuples(self) -> tuple[PoolTuple, ...]:
        """Tuple of every action; the index is the action."""
        return tuple(PoolTuple(*core) for core in product(self.sizes, self.oversubscribes, self.timer_intervals_ms))

    @cached_property
    def pool_sizes(self) -> NDArray[np.int64]:
        """Pool size of every action."""
        return np.array([pool_tuple.pool_size for pool_tuple in self.tuples])

    @cached_property
    def _index(self) -> dict[tuple[int, int, int], int]:
        return {pool_tuple.core: index for index, pool_tuple in enumerate(self.tuples)}

    @cached_property
    def _log_cores(self) -> NDArray[np.float64]:
        return log_core(np.array([pool_tuple.core for pool_tuple in self.tuples]))

    def mask(self, limits: KnobSpace) -> NDArray[np.bool_]:
        """Which tuples a server allows, shape (len(self),).

        Raises:
            SettingError: It allows none.
        """
        allowed = _allowed(self, limits.ranges)
        if not allowed.any():
            raise SettingError("no configuration of the grid is inside the limits of this server; widen the limits")
        return allowed.copy()

    def index_of(self, pool_tuple: PoolTuple) -> int:
        """Action that sets the core of this tuple.

        Raises:
            SettingError: The tuple is not on the grid.
        """
        try:
            return self._index[pool_tuple.core]
        except KeyError:
            raise SettingError(
                f"{pool_tuple} is not on the grid: sizes {self.sizes}, oversubscribe {self.oversubscribes}, "
                f"timer interval {self.timer_intervals_ms} ms"
            ) from None

    def nearest(self, pool_tuple: PoolTuple, mask: NDArray[np.bool_] | None = None) -> PoolTuple:
        """The tuple of the grid nearest in logarithms, among those that `mask` allows."""
        distance = squared_log_distances(self._log_cores, pool_tuple.core)
        if mask is not None:
            distance = np.where(mask, distance, np.inf)
        return self.tuples[int(np.argmin(distance))]

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuilds a grid from `as_dict`."""
        return cls(
            tuple(values["sizes"]),
            tuple(values["oversubscribes"]),
            tuple(values["timer_intervals_ms"]),
            int(values["version"]),
        )


@lru_cache(KEPT_LIMITS)
def _allowed(grid: ActionGrid, ranges: Ranges) -> NDArray[np.bool_]:
    """Which tuples of a grid lie within some ranges, and vary nothing else.

    They are kept, since a service is asked about the same few ranges again and again.
    """
    limits = KnobSpace.of_ranges(None, ranges)
    return np.array([limits.allows(each) and limits.leaves_alone(each) for each in grid.tuples])


def log_core(cores: NDArray[np.int64]) -> NDArray[np.float64]:
    """Base-2 logarithms of size, 1 + oversubscribe and timer interval. Shape (..., 3) to (..., 3)."""
    logs: NDArray[np.float64] = np.log2(cores + np.array([0, 1, 0]))
    return logs


def squared_log_distances(logs: NDArray[np.float64], core: tuple[int, int, int]) -> NDArray[np.float64]:
    """Squared distance of a core to others given as `log_core` gives them, (n, 3) to (n,)."""
    distances: NDArray[np.float64] = np.square(logs - log_core(np.array(core))).sum(axis=1)
    return distances


def nearest_core(cores: Sequence[tuple[int, int, int]], core: tuple[int, int, int]) -> int:
    """Place of the core that is nearest in logarithms; the first of several."""
    return int(np.argmin(squared_log_distances(log_core(np.array(cores)), core)))


DEFAULT_GRID = ActionGrid(
    sizes=(1, 2, 4, 8, 16, 32, 64), oversubscribes=(1, 3), timer_intervals_ms=(10, 500), version=1
)

LARGE_GRID = ActionGrid(
    sizes=(*DEFAULT_GRID.sizes, 128), oversubscribes=(1, 3), timer_intervals_ms=(10, 500), version=1
)
"""The same up to the largest size a running server takes, for machines of many processors."""
