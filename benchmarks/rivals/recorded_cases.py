"""Recorded workloads as cases that methods are held against: what they see, and what their choices are judged by.

Methods see the first window of a tuple. A choice is judged by the windows that came after it, in which the race
repeated what had done well; a tuple that the race dropped has none, and is judged by the one that was seen. The
reference is the best of all rounds, judged by the windows in which it was measured afresh.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self

import numpy as np

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import AGAIN_ROUND, Core, WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.workloads.family import Split
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.pipelines.store.dataset import checked_window, one_grid, read_swept_rows, sweep_of
from poolpilot.pipelines.store.leak_faults import composition_of


@dataclass(frozen=True)
class RecordedCase:
    """One swept workload.

    Attributes:
        kind: The set that it belongs to.
        composition: What it is composed of; of MariaDB's the scripts.
        sweep: The sweep.
        grid: The grid of the sweep.
        again: Windows of the best tuple, measured afresh once it was chosen.
    """

    kind: str
    composition: str
    sweep: WorkloadSweep
    grid: ActionGrid
    again: tuple[Window, ...]

    @property
    def name(self) -> str:
        """Its name."""
        return self.sweep.workload_id

    @property
    def family(self) -> str:
        """Its family."""
        return self.sweep.family

    @property
    def held_out_cpus(self) -> None:
        """No size of machine is held out: records are of one processor or two, and little would be left."""

    @property
    def split(self) -> str:
        """Its split."""
        return self.sweep.split

    @property
    def objective(self) -> Objective:
        """What counts."""
        return self.sweep.objective

    @cached_property
    def limits(self) -> KnobSpace:
        """The knobs of the server, its sizes cut to those that were measured."""
        limits, largest = self.sweep.limits, max(core[0] for core in self.sweep.entries)
        size = limits.knobs["pool_size"]
        return replace(limits, knobs={**limits.knobs, "pool_size": replace(size, high=min(size.high, largest))})

    @property
    def reference(self) -> Core:
        """The best of all rounds."""
        return self.again[0].pool_tuple.core

    def shown(self, tuples: Sequence[PoolTuple]) -> Mapping[PoolTuple, Window]:
        """The first window of each tuple; one that was not measured shows the nearest that was."""
        return {one: self._as(one, self.sweep.entries[self.nearest(one)].windows[0]) for one in tuples}

    def judged(self, core: Core) -> tuple[Window, ...]:
        """The windows that a choice of this tuple is judged by."""
        if core == self.reference:
            return self.again
        windows = self.sweep.entries[core].windows
        return windows[1:] or windows

    def was_seen(self, core: Core) -> bool:
        """Whether a choice of this tuple is judged by the window that methods see, for want of another."""
        return core != self.reference and len(self.sweep.entries[core].windows) == 1

    def value(self, core: Core) -> float:
        """J of a choice as judged; who sets what breaks the constraints goes back, and gains nothing by it."""
        found = mean_value(self.objective, self.judged(core))
        default = self.limits.default_tuple().core
        if core == default or self.sweep.entries[core].feasible:
            return found
        return min(found, mean_value(self.objective, self.judged(default)))

    def nearest(self, pool_tuple: PoolTuple) -> Core:
        """The measured tuple nearest to a tuple."""
        if pool_tuple.core in self.sweep.entries:
            return pool_tuple.core
        around = self.sweep.neighbours(pool_tuple)
        return around.high if around.weight > 0.5 else around.low

    def of_kind(self, kind: str) -> Self:
        """The same workload in another set."""
        return replace(self, kind=kind)

    @staticmethod
    def _as(pool_tuple: PoolTuple, window: Window) -> Window:
        return replace(window, pool_tuple=pool_tuple, profile=replace(window.profile, pool_tuple=pool_tuple))


def mean_value(objective: Objective, windows: Sequence[Window]) -> float:
    """Mean J of some windows."""
    return float(np.mean([objective.value(window) for window in windows]))


def recorded_cases(kind: str, store: Path, *splits: Split) -> list[RecordedCase]:
    """The complete sweeps of some splits of a store, family by family.

    Raises:
        StoreError: The store is missing, damaged, or holds no complete sweep.
    """
    swept = read_swept_rows(store, *splits)
    grid = one_grid(store, swept.definitions.values())
    again: dict[str, list[Window]] = defaultdict(list)
    for name, rows in swept.windows.items():
        again[name] = [checked_window(row) for row in rows if row["round"] == AGAIN_ROUND]
    cases = [
        RecordedCase(
            kind,
            composition_of(swept.definitions[name]),
            sweep_of(swept.definitions[name], rows),
            grid,
            tuple(again[name]),
        )
        for name, rows in swept.windows.items()
    ]
    return sorted(cases, key=lambda case: (case.family, case.name))
