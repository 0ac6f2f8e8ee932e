"""The outcomes of many tuples under one workload, and the best of them: the label that learning uses."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from poolpilot.env.action_grid import log_core, nearest_core
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective, regret
from poolpilot.errors import StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

Core = tuple[int, int, int]
"""(pool_size, oversubscribe, timer_interval_ms)"""

AGAIN_ROUND = -1
"""Round number of the windows that re-measure the best tuple afresh; they never enter its entry."""


@dataclass(frozen=True)
class SweepEntry:
    """All windows of one tuple.

    Attributes:
        windows: The repeats, in the order measured.
        values: J of each.
        feasible: Whether they keep the constraints, taken as one.
        last_round: Round of the sweep in which the tuple was measured last; the finalists got furthest.
    """

    windows: tuple[Window, ...]
    values: tuple[float, ...]
    feasible: bool = True
    last_round: int = 0

    @cached_property
    def value(self) -> float:
        """Mean J."""
        return float(np.mean(self.values))


@dataclass(frozen=True)
class Neighbours:
    """The measured tuples a tuple lies between: its value is `(1 - weight) * low + weight * high`."""

    low: Core
    high: Core
    weight: float


@dataclass(frozen=True)
class WorkloadSweep:
    """One swept workload.

    Attributes:
        workload_id: Unique name of the workload.
        family: Family it was drawn from.
        split: "train", "validation" or "test".
        limits: Knobs of the server it was measured on.
        objective: The objective of its values.
        entries: Windows and values by core tuple.
        again_values: J of the best tuple, re-measured after it was chosen.
    """

    workload_id: str
    family: str
    split: str
    limits: KnobSpace
    objective: Objective
    entries: Mapping[Core, SweepEntry]
    again_values: tuple[float, ...] = ()

    @classmethod
    def build(
        cls,
        observed: Iterable[tuple[int, Window]],
        *,
        workload_id: str,
        family: str,
        split: str,
        limits: KnobSpace,
        objective: Objective,
        reference: PoolTuple | None = None,
    ) -> Self:
        """Groups windows by tuple.

        Args:
            observed: (round, window) pairs; those of `AGAIN_ROUND` become `again_values`.
            workload_id: Unique name of the workload.
            family: Family it was drawn from.
            split: "train", "validation" or "test".
            limits: Knobs of the server it was measured on.
            objective: The objective to value the windows by.
            reference: Whose windows floors are shares of; the default tuple's if None.

        Raises:
            StoreError: There is no window.
        """
        grouped: dict[Core, list[Window]] = defaultdict(list)
        last_rounds: dict[Core, int] = defaultdict(int)
        again: list[tuple[Core, float]] = []
        for round_number, window in observed:
            if round_number == AGAIN_ROUND:
                again.append((window.pool_tuple.core, objective.value(window)))
            else:
                core = window.pool_tuple.core
                grouped[core].append(window)
                last_rounds[core] = max(last_rounds[core], round_number)
        if not grouped:
            raise StoreError(f"the sweep of workload {workload_id!r} has no windows; collect it again")
        of_reference = grouped.get((reference or limits.default_tuple()).core)
        before = None if of_reference is None else Window.pooled(of_reference)
        entries = {core: entry_of(windows, objective, before, last_rounds[core]) for core, windows in grouped.items()}
        swept = cls(workload_id, family, split, limits, objective, entries)
        # A sweep that was repaired may hold such windows of the tuple that was its best before.
        return replace(swept, again_values=tuple(value for core, value in again if core == swept._oracle_core))

    def server_view(self) -> Self:
        """The same sweep with windows that know no classes; what its tuples are worth stays what the clients saw.

        That is what production looks like: clients seldom report, and still count.
        """
        return replace(self._seen_as(Window.without_classes), workload_id=f"{self.workload_id}, seen by the server")

    def hiding(self, features: Collection[str]) -> Self:
        """The same sweep for a model that is not shown some features."""
        return self._seen_as(lambda window: window.hiding(features))

    def _seen_as(self, view: Callable[[Window], Window]) -> Self:
        entries = {
            core: replace(entry, windows=tuple(view(window) for window in entry.windows))
            for core, entry in self.entries.items()
        }
        return replace(self, entries=entries)

    def neighbours(self, pool_tuple: PoolTuple) -> Neighbours:
        """The measured tuples around any tuple: nearest oversubscribe and timer, then sizes in logarithms."""
        cores = np.array(list(self.entries))
        rest = log_core(cores)[:, 1:] - log_core(np.array(pool_tuple.core))[1:]
        distance = np.square(rest).sum(axis=1)
        row = cores[distance == distance.min()]
        row = row[(row[:, 1:] == row[0, 1:]).all(axis=1)]
        sizes = np.sort(row[:, 0])
        size = int(np.clip(pool_tuple.pool_size, sizes[0], sizes[-1]))
        low = int(sizes[np.searchsorted(sizes, size, side="right") - 1])
        high = int(sizes[np.searchsorted(sizes, size, side="left")])
        weight = 0.0 if low == high else float(np.log(size / low) / np.log(high / low))
        oversubscribe, timer_interval_ms = int(row[0, 1]), int(row[0, 2])
        return Neighbours((low, oversubscribe, timer_interval_ms), (high, oversubscribe, timer_interval_ms), weight)

    def value(self, pool_tuple: PoolTuple) -> float:
        """Mean J of a tuple; between measured sizes interpolated in the logarithm of the size."""
        entry = self.entries.get(pool_tuple.core)
        if entry is not None:
            return entry.value
        around = self.neighbours(pool_tuple)
        return (1.0 - around.weight) * self.entries[around.low].value + around.weight * self.entries[around.high].value

    def regret(self, pool_tuple: PoolTuple) -> float:
        """Regret of a tuple against the oracle of this sweep."""
        return regret(self.value(pool_tuple), self.oracle_value)

    def keeps_floors(self, core: Core) -> bool:
        """Whether the measured tuple that is nearest to a tuple leaves every class what it must keep."""
        cores = list(self.entries)
        return self.entries[cores[nearest_core(cores, core)]].feasible

    def regret_within_floors(self, pool_tuple: PoolTuple) -> float:
        """Regret of a tuple; see `value_within_floors`."""
        default = self.limits.default_tuple()
        value = self.value_within_floors(pool_tuple.core, lambda core: self.value(default.with_core(core)))
        return regret(value, self.oracle_value)

    def value_within_floors(self, core: Core, value_of: Callable[[Core], float]) -> float:
        """J of a tuple; of one that breaks a floor no more than that of the default.

        Args:
            core: The tuple.
            value_of: J of a tuple, as it is to be judged.
        """
        if self.keeps_floors(core):
            return value_of(core)
        return min(value_of(core), value_of(self.limits.default_tuple().core))

    def kept_apart(self, rng: np.random.Generator) -> tuple[Self, Callable[[Core], float]]:
        """The sweep with one window of each tuple, and the mean J of a tuple's other windows, or of the one it has."""
        shown, rest = {}, {}
        for core, entry in self.entries.items():
            place = int(rng.integers(len(entry.windows)))
            shown[core] = replace(entry, windows=(entry.windows[place],), values=(entry.values[place],))
            others = [value for number, value in enumerate(entry.values) if number != place]
            rest[core] = float(np.mean(others or entry.values))
        default = self.limits.default_tuple()
        return replace(self, entries=shown), lambda core: rest.get(core, self.value(default.with_core(core)))

    @cached_property
    def _oracle_core(self) -> Core:
        # A tuple dropped early on one lucky window would otherwise beat finalists whose luck has averaged out.
        last_round = max(entry.last_round for entry in self.entries.values())
        finalists = {core: entry for core, entry in self.entries.items() if entry.last_round == last_round}
        return max(finalists, key=lambda core: (finalists[core].feasible, finalists[core].value))

    @property
    def oracle_tuple(self) -> PoolTuple:
        """The best of the tuples that got furthest in the race, feasible ones first."""
        return self.limits.default_tuple().with_core(self._oracle_core)

    @property
    def oracle_value(self) -> float:
        """Mean J of the oracle over the windows it was chosen by."""
        return self.entries[self._oracle_core].value

    @property
    def oracle_again(self) -> float | None:
        """Mean J of the oracle re-measured afresh; None if it was not."""
        return float(np.mean(self.again_values)) if self.again_values else None

    @cached_property
    def noise(self) -> float:
        """Standard deviation of repeats of J, pooled over the tuples; 0 without repeats."""
        repeated = [np.asarray(entry.values) for entry in self.entries.values() if len(entry.values) > 1]
        if len(self.again_values) > 1:
            repeated.append(np.asarray(self.again_values))
        squares = sum(float(np.square(values - values.mean()).sum()) for values in repeated)
        freedom = sum(len(values) - 1 for values in repeated)
        return float(np.sqrt(squares / freedom)) if freedom else 0.0


def entry_of(
    windows: Iterable[Window], objective: Objective, reference: Window | None, last_round: int = 0
) -> SweepEntry:
    """Values the windows of one tuple; `reference` is what the classes had under the default tuple, in all windows.

    Where few requests of a class end in a window, a share of what one window held is none.
    """
    kept = tuple(windows)
    values = tuple(objective.value(window) for window in kept)
    return SweepEntry(kept, values, objective.feasible(Window.pooled(kept), reference), last_round)
