"""Workloads whose outcome is known on a machine grid, with the ratios of their default window: rivals learn from it."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.agent.baselines.ratios import ratios_of
from poolpilot.agent.encoded_sweeps import INFEASIBLE_PENALTY
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.errors import StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.latent.machine_grid import MachineGrid

Floats = NDArray[np.float64]


class KnownValues(NamedTuple):
    """The library on one server.

    Attributes:
        tuples: The tuples of the grid that the server allows, U of them.
        values: J of every workload under every tuple, (S, U).
    """

    tuples: tuple[PoolTuple, ...]
    values: Floats


@dataclass(frozen=True)
class RatioLibrary:
    """S workloads, R ratios and A columns of a machine grid.

    Attributes:
        grid: The configurations, stated for any machine.
        families: Family of each workload.
        ratios: Ratios of the window under the default configuration, NaN where unknown, (S, R).
        log_worth: Natural logarithm of what J values under every column, (S, A).
        cpus: Processors, (S,).
        connections: Connections, (S,).
    """

    grid: MachineGrid
    families: tuple[str, ...]
    ratios: Floats
    log_worth: Floats
    cpus: Floats
    connections: Floats

    @classmethod
    def of_sweeps(cls, sweeps: Sequence[WorkloadSweep], grid: MachineGrid) -> Self:
        """Learns from sweeps; those that never measured their default are left out.

        Raises:
            StoreError: No sweep is left.
        """
        known = [sweep for sweep in sweeps if sweep.limits.default_tuple().core in sweep.entries]
        if not known:
            raise StoreError("there is no swept workload with a window of its default; collect some first")
        firsts = [sweep.entries[sweep.limits.default_tuple().core].windows[0] for sweep in known]
        return cls(
            grid,
            tuple(sweep.family for sweep in known),
            np.stack([ratios_of(first, sweep.objective) for first, sweep in zip(firsts, known, strict=True)]),
            np.stack([_log_worth(sweep, grid) for sweep in known]),
            np.array([float(sweep.limits.cpus) for sweep in known]),
            np.array([first.profile.features["connections"] or 1.0 for first in firsts]),
        )

    def __len__(self) -> int:
        return len(self.families)

    def without_family(self, family: str) -> Self:
        """The workloads of every other family; for leave-one-family-out evaluation."""
        kept = np.array([one != family for one in self.families], dtype=np.bool_)
        return replace(
            self,
            families=tuple(one for one in self.families if one != family),
            **{name: getattr(self, name)[kept] for name in ("ratios", "log_worth", "cpus", "connections")},
        )

    @classmethod
    def joined(cls, libraries: Iterable[Self]) -> Self:
        """Several libraries of one grid as one."""
        listed = list(libraries)
        stacked: Callable[[str], Floats] = lambda name: np.concatenate([getattr(one, name) for one in listed])  # noqa: E731
        families = tuple(family for one in listed for family in one.families)
        names = ("ratios", "log_worth", "cpus", "connections")
        return cls(listed[0].grid, families, *(stacked(name) for name in names))

    def on(self, limits: KnobSpace, objective: Objective) -> KnownValues:
        """Places the library on a server.

        Raises:
            SettingError: The server allows no configuration of the grid.
        """
        placed = self.grid.on(limits)
        sizes = np.array([pool_tuple.pool_size for pool_tuple in placed.tuples])
        return KnownValues(placed.tuples, self.log_worth @ placed.shares.T - objective.price_of_thread * np.log(sizes))


def _log_worth(sweep: WorkloadSweep, grid: MachineGrid) -> Floats:
    """Logarithm of the worth under every column: interpolated between sizes measured, beyond them the last one's."""
    price = sweep.objective.price_of_thread
    worth: dict[PoolTuple, float] = {}
    for column in dict.fromkeys(grid.columns_on(sweep.limits)):
        entry = sweep.entries.get(column.core)
        penalty = INFEASIBLE_PENALTY if entry is not None and not entry.feasible else 0.0
        worth[column] = sweep.value(column) - penalty + price * math.log(column.pool_size)
    return np.array([worth[column] for column in grid.columns_on(sweep.limits)])
