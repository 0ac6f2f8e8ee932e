"""The known curves on one server: what each of them would be worth there, and what its windows say of them."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.action_grid import log_core, squared_log_distances
from poolpilot.env.knobs import KnobSpace, Ranges
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.belief import Answer, regrets_of_values
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.observations.floor_limits import may_be_named

KEPT_SERVERS = 16
"""Servers of one library whose placed curves are kept; of the shipped curves those of one are 2 MB."""


class Columns(NamedTuple):
    """What is the same whatever the windows.

    Attributes:
        tuples: The U tuples that a server allows.
        logs: Logarithms of their cores, (U, 3).
        sizes: Pool size of every tuple, (U,).
        values: J of every curve under every tuple, (S, U).
        regrets: Regret of every tuple under every curve, (S, U).
    """

    tuples: tuple[PoolTuple, ...]
    logs: NDArray[np.float64]
    sizes: NDArray[np.int64]
    values: NDArray[np.float64]
    regrets: NDArray[np.float64]


@dataclass(frozen=True)
class PlacedCurves:
    """S curves under the U tuples that a server allows.

    Attributes:
        columns: The tuples, and what the curves promise under them.
        objective: What J is of.
    """

    columns: Columns
    objective: Objective

    @classmethod
    def on(cls, curves: ResponseCurves, limits: KnobSpace, objective: Objective) -> Self:
        """Places curves on a server.

        Raises:
            SettingError: The server allows no configuration of the grid, or its processors are not known.
        """
        return cls(_columns(curves, limits.processors, limits.ranges, objective.price_of_thread), objective)

    @property
    def tuples(self) -> tuple[PoolTuple, ...]:
        """The tuples."""
        return self.columns.tuples

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Pool size of every tuple, (U,)."""
        return self.columns.sizes

    @property
    def values(self) -> NDArray[np.float64]:
        """J of every curve under every tuple, (S, U)."""
        return self.columns.values

    @property
    def regrets(self) -> NDArray[np.float64]:
        """Regret of every tuple under every curve, (S, U)."""
        return self.columns.regrets

    def nearest(self, pool_tuple: PoolTuple) -> int:
        """Place of the tuple nearest in logarithms."""
        return int(np.argmin(squared_log_distances(self.columns.logs, pool_tuple.core)))

    def usable(self, windows: Sequence[Window], limits: KnobSpace) -> NDArray[np.bool_]:
        """Which tuples may be named after some windows, (U,).

        They may keep all floors and have no more groups than there could be connections for, up to the smallest size
        that is enough.
        """
        may = may_be_named(self.tuples, windows, limits, self.objective)
        connections = windows[-1].profile.features.get("connections")
        if connections is None:
            return may
        enough = self.sizes[self.sizes >= connections].min(initial=self.sizes.max())
        usable: NDArray[np.bool_] = may & (self.sizes <= enough)
        return usable

    def answers(self, windows: Sequence[Window]) -> list[Answer]:
        """What every tuple has shown, the first window's first; one that is not placed counts as the nearest."""
        grouped: dict[int, list[Window]] = defaultdict(list)
        for window in windows:
            grouped[self.nearest(window.pool_tuple)].append(window)
        return [self._answer(place, found) for place, found in grouped.items()]

    def _answer(self, place: int, windows: Sequence[Window]) -> Answer:
        value = sum(self.objective.value(window) for window in windows) / len(windows)
        error = math.sqrt(sum(self.objective.error(window) ** 2 for window in windows)) / len(windows)
        return Answer(place, value, error)


_kept: WeakKeyDictionary[ResponseCurves, dict[tuple[int | None, Ranges, float], Columns]] = WeakKeyDictionary()
_placing = Lock()
"""Held while what is kept is looked up or added to; not while curves are placed."""


def _columns(curves: ResponseCurves, processors: int | None, ranges: Ranges, price_of_thread: float) -> Columns:
    """Placed curves; kept, because a service is asked about the same few servers again and again.

    Only for as long as the library is: one that another has replaced goes with all that was placed of it.
    """
    server = processors, ranges, price_of_thread
    with _placing:
        found = _kept.setdefault(curves, {}).get(server)
    if found is not None:
        return found
    placed = _placed(curves, *server)
    with _placing:
        kept = _kept.setdefault(curves, {})
        kept[server] = placed
        if len(kept) > KEPT_SERVERS:
            del kept[next(iter(kept))]
    return placed


def _placed(curves: ResponseCurves, processors: int | None, ranges: Ranges, price_of_thread: float) -> Columns:
    placed = curves.grid.on(KnobSpace.of_ranges(processors, ranges))
    sizes = np.array([pool_tuple.pool_size for pool_tuple in placed.tuples])
    values = curves.log_worth @ placed.shares.T - price_of_thread * np.log(sizes)
    logs = log_core(np.array([pool_tuple.core for pool_tuple in placed.tuples]))
    # A belief asks for columns, which lie together so.
    by_column = np.asfortranarray(values), np.asfortranarray(regrets_of_values(values))
    columns = Columns(placed.tuples, logs, sizes, *by_column)
    for array in columns[1:]:
        array.setflags(write=False)
    return columns
