"""Configurations stated for any machine: sizes as numbers of groups and as multiples of the processors."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from poolpilot.env.action_grid import log_core, squared_log_distances
from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

KEPT_SERVERS = 64
"""Servers whose reference columns are kept."""


class Placed(NamedTuple):
    """The columns of a grid on one server.

    Attributes:
        tuples: The different tuples that the server allows, U of them.
        shares: What each column counts for in each tuple, (U, A): where several columns name one tuple, their mean.
    """

    tuples: tuple[PoolTuple, ...]
    shares: NDArray[np.float64]


class MachineGrid(BaseModel):
    """Every size with every oversubscribe and timer interval; a column for each, A in all.

    Both kinds of size are there because both matter: what computes wants as many groups as processors, what waits wants
    as many as there are requests, whatever the processors.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    sizes: tuple[int, ...] = Field(default=(1, 2, 4, 8, 16, 32, 64, 128), description="Sizes in thread groups.")
    multiples: tuple[float, ...] = Field(
        default=(0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0), description="Sizes in groups for each processor."
    )
    oversubscribes: tuple[int, ...] = Field(default=(1, 3), description="Values of oversubscribe.")
    timer_intervals_ms: tuple[int, ...] = Field(default=(10, 500), description="Timer intervals in milliseconds.")

    @model_validator(mode="after")
    def _is_positive(self) -> Self:
        if not (self.sizes or self.multiples) or not self.oversubscribes or not self.timer_intervals_ms:
            raise ValueError("a grid needs a size, an oversubscribe and a timer interval")
        if min((*self.sizes, *self.multiples, *self.oversubscribes, *self.timer_intervals_ms)) <= 0:
            raise ValueError("the values of a grid must be above 0")
        return self

    def __len__(self) -> int:
        sizes = len(self.sizes) + len(self.multiples)
        return sizes * len(self.oversubscribes) * len(self.timer_intervals_ms)

    @property
    def reference_columns(self) -> tuple[int, ...]:
        """Columns under which curves keep what windows look like: the largest oversubscribe with every multiple.

        Where the grid has none, with every size.
        """
        wanted = product((not self.multiples,) * len(self.sizes) + (True,) * len(self.multiples), self.oversubscribes)
        rows = [kept and threads == max(self.oversubscribes) for kept, threads in wanted]
        timers = len(self.timer_intervals_ms)
        return tuple(timers * row + place for row, kept in enumerate(rows) if kept for place in range(timers))

    def nearest_reference(self, limits: KnobSpace, pool_tuple: PoolTuple) -> int:
        """Which of the reference columns names the tuple nearest in logarithms on a server, 0 for the first of them."""
        size = limits.knobs["pool_size"]
        logs = _reference_logs(self, limits.cpus, size.low, size.high)
        return int(np.argmin(squared_log_distances(logs, pool_tuple.core)))

    def columns_on(self, limits: KnobSpace) -> list[PoolTuple]:
        """The tuple of every column on a server, its size cut to the largest and smallest that the server allows."""
        size = limits.knobs["pool_size"]
        return self._columns(limits.cpus, size.low, size.high)

    def _columns(self, cpus: int, low: float, high: float) -> list[PoolTuple]:
        wanted = [float(size) for size in self.sizes] + [multiple * cpus for multiple in self.multiples]
        sizes = [int(min(max(round(size), low, 1), high)) for size in wanted]
        return [PoolTuple(*core) for core in product(sizes, self.oversubscribes, self.timer_intervals_ms)]

    def on(self, limits: KnobSpace) -> Placed:
        """Places the grid on a server.

        Raises:
            SettingError: The server allows none of its tuples.
        """
        columns = self.columns_on(limits)
        allowed = [each for each in dict.fromkeys(columns) if limits.allows(each) and limits.leaves_alone(each)]
        if not allowed:
            raise SettingError("no configuration of the grid is inside the limits of this server; widen the limits")
        return Placed(tuple(allowed), _shares(columns, allowed))


@lru_cache(KEPT_SERVERS)
def _reference_logs(grid: MachineGrid, cpus: int, low: float, high: float) -> NDArray[np.float64]:
    """Logarithms of the cores of the reference columns; kept, as a service is asked about the same few servers."""
    columns = grid._columns(cpus, low, high)
    return log_core(np.array([columns[place].core for place in grid.reference_columns]))


def _shares(columns: Sequence[PoolTuple], tuples: Sequence[PoolTuple]) -> NDArray[np.float64]:
    place_of = {pool_tuple: place for place, pool_tuple in enumerate(tuples)}
    named = np.zeros((len(tuples), len(columns)))
    for place, column in enumerate(columns):
        if column in place_of:
            named[place_of[column], place] = 1.0
    shares: NDArray[np.float64] = named / named.sum(axis=1, keepdims=True)
    return shares
