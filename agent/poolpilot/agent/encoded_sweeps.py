"""Swept workloads as arrays: every window encoded once, every outcome in a table over the grid."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.sweep import SweepEntry, WorkloadSweep
from poolpilot.env.observation import BOUND, ENTRIES, EncodedWindow, Observation, encode_window
from poolpilot.errors import StoreError
from poolpilot.featurizer.pool_tuple import PoolTuple

Floats = NDArray[np.float32]

INFEASIBLE_PENALTY = 1.0
"""Taken off J of a tuple that breaks a constraint: feasible beats infeasible unless the outcomes are worlds apart."""


@dataclass(frozen=True)
class EncodedSweeps:
    """Windows and outcomes of S sweeps with W windows in all over a grid of A tuples.

    Attributes:
        sweeps: The sweeps themselves, S of them.
        grid: The grid of the actions.
        features: Scaled features of every window, (W, F).
        feature_mask: 1 where present, (W, F).
        tuples: Scaled logarithms of the tuple measured, (W, 3).
        values: J of the window, (W,).
        within_target: Share of the weighted completions within their target, (W,).
        most_gain: The most that more threads, and fewer, can bring by what waits, in ln completions, (W, 2).
        context: Scaled logarithms of processors and connections, (W, 2).
        reference: Mean J of the window's tuple in its sweep, (W,).
        sweep_of: Index of the window's sweep, (W,).
        allowed: 1 where the sweep's limits allow the tuple, (S, A).
        outcome: Mean J of every tuple, interpolated where it was not measured, (S, A).
        repeats: Windows measured under the tuple, 0 where it was not measured, (S, A).
        regret: Regret of every tuple against the sweep's oracle, at least 0, (S, A).
    """

    sweeps: tuple[WorkloadSweep, ...]
    grid: ActionGrid
    features: Floats
    feature_mask: Floats
    tuples: Floats
    values: Floats
    within_target: Floats
    most_gain: Floats
    context: Floats
    reference: Floats
    sweep_of: NDArray[np.int64]
    allowed: Floats
    outcome: Floats
    repeats: Floats
    regret: Floats

    @classmethod
    def of(cls, sweeps: Sequence[WorkloadSweep], grid: ActionGrid) -> Self:
        """Encodes sweeps.

        Raises:
            StoreError: There is no sweep, or one measured no configuration of the grid that its limits allow.
            SettingError: The limits of a sweep allow no tuple of the grid.
        """
        if not sweeps:
            raise StoreError("there is no swept workload to learn from; collect some first (`poolpilot learn collect`)")
        for sweep in sweeps:
            if not any(_repeats(sweep, pool_tuple) and sweep.limits.allows(pool_tuple) for pool_tuple in grid.tuples):
                raise StoreError(f"the sweep of workload {sweep.workload_id!r} measured no configuration of the grid")
        encoded: list[EncodedWindow] = []
        reference: list[float] = []
        sweep_of: list[int] = []
        for index, sweep in enumerate(sweeps):
            for entry in sweep.entries.values():
                encoded += [encode_window(window, sweep.limits, sweep.objective) for window in entry.windows]
                reference += [_outcome(entry)] * len(entry.windows)
                sweep_of += [index] * len(entry.windows)
        outcome = np.array([[_value(sweep, pool_tuple) for pool_tuple in grid.tuples] for sweep in sweeps])
        oracle = np.array([[sweep.oracle_value] for sweep in sweeps])
        return cls(
            sweeps=tuple(sweeps),
            grid=grid,
            features=np.stack([window.features for window in encoded]),
            feature_mask=np.stack([window.feature_mask for window in encoded]),
            tuples=np.stack([window.tuple_logs for window in encoded]),
            values=_floats([window.value for window in encoded]),
            within_target=_floats([window.within_target for window in encoded]),
            most_gain=np.stack([window.most_gain for window in encoded]),
            context=np.stack([window.context for window in encoded]),
            reference=_floats(reference),
            sweep_of=np.array(sweep_of),
            allowed=_floats([grid.mask(sweep.limits) for sweep in sweeps]),
            outcome=_floats(outcome),
            repeats=_floats([[_repeats(sweep, pool_tuple) for pool_tuple in grid.tuples] for sweep in sweeps]),
            regret=_floats(np.maximum(1.0 - np.exp(outcome - oracle), 0.0)),
        )

    def __len__(self) -> int:
        return len(self.sweeps)

    @property
    def measured(self) -> Floats:
        """1 where a tuple was measured and is allowed, (S, A)."""
        return self.allowed * (self.repeats > 0.0)

    def windows_of(self, sweep: int) -> NDArray[np.int64]:
        """Indices of a sweep's windows."""
        return np.flatnonzero(self.sweep_of == sweep)

    def observation(self, sets: NDArray[np.int64], k: int = ENTRIES) -> Observation:
        """The observations that `poolpilot.env.observation.assemble` makes, for many response sets at once.

        Args:
            sets: Windows of each set, oldest first and -1 after the last, (B, at most k).
            k: Entries of an observation.

        Returns:
            Arrays by name, each with a leading batch axis B.
        """
        padded = np.full((len(sets), k), -1)
        padded[:, : sets.shape[1]] = sets
        present = (padded >= 0).astype(np.float32)
        rows = np.maximum(padded, 0)
        first = rows[:, :1]
        latest = rows[np.arange(len(rows)), (padded >= 0).sum(axis=1) - 1]
        relative = np.clip(self.values[rows] - self.values[first], -BOUND, BOUND) * present
        return {
            "features": self.features[rows] * present[..., None],
            "feature_mask": self.feature_mask[rows] * present[..., None],
            "tuples": self.tuples[rows] * present[..., None],
            "relative": relative[..., None],
            "within_target": (self.within_target[rows] * present)[..., None],
            "most_gain": self.most_gain[rows] * present[..., None],
            "present": present,
            "action_mask": self.allowed[self.sweep_of[first[:, 0]]],
            "context": self.context[latest],
        }


def draw_sets(
    encoded: EncodedSweeps, sets_per_sweep: int, most_windows: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draws response sets of 1..`most_windows` random windows of one sweep, as many for every sweep.

    Returns:
        Windows of each set, -1 after the last, (S * sets_per_sweep, most_windows).
    """
    drawn = []
    for sweep in range(len(encoded)):
        windows = encoded.windows_of(sweep)
        sets = rng.choice(windows, size=(sets_per_sweep, most_windows))
        length = rng.integers(1, most_windows + 1, size=(sets_per_sweep, 1))
        drawn.append(np.where(np.arange(most_windows) < length, sets, -1))
    return np.concatenate(drawn)


def _floats(values: object) -> Floats:
    return np.asarray(values, dtype=np.float32)


def _outcome(entry: SweepEntry) -> float:
    return entry.value if entry.feasible else entry.value - INFEASIBLE_PENALTY


def _value(sweep: WorkloadSweep, pool_tuple: PoolTuple) -> float:
    entry = sweep.entries.get(pool_tuple.core)
    return sweep.value(pool_tuple) if entry is None else _outcome(entry)


def _repeats(sweep: WorkloadSweep, pool_tuple: PoolTuple) -> int:
    entry = sweep.entries.get(pool_tuple.core)
    return 0 if entry is None else len(entry.windows)
