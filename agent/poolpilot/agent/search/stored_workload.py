"""A workload measured before, as points of a search space: what OtterTune's repository holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.agent.search.observations import Goal, penalised, target_value
from poolpilot.agent.search.search_space import SearchSpace
from poolpilot.env.measurement.sweep import SweepEntry, WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.schema import scaled

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class StoredWorkload:
    """What n tuples did under one workload.

    Attributes:
        workload_id: Unique name of the workload.
        points: The tuples as points of the search space, each once, (n, d).
        metrics: Mean metrics under each, NaN where one is missing, (n, m).
        values: Mean of the target under each, (n,).
    """

    workload_id: str
    points: Floats
    metrics: Floats
    values: Floats

    def __post_init__(self) -> None:
        if not 0 < len(self.points) == len(self.metrics) == len(self.values):
            raise SettingError(
                f"workload {self.workload_id!r} needs metrics and a value for each of its configurations"
            )

    @classmethod
    def of(cls, sweep: WorkloadSweep, space: SearchSpace, objective: Objective, target: Goal = "objective") -> Self:
        """Takes a sweep into a search space; the scaled features of its windows are the metrics.

        Tuples that differ from the one in force in a knob that does not vary are left out, unless all do; so are those
        that the search cannot ask for.

        Args:
            sweep: The sweep.
            space: The space searched.
            objective: What counts now, which need not be what counted then.
            target: What the search maximises.

        Raises:
            SettingError: The target is latency and the windows do not tell it, or no tuple is one to ask for.
        """
        tuples = {core: space.in_force.with_core(core) for core in sweep.entries}
        alike = [
            core for core, pool_tuple in tuples.items() if space.with_held(pool_tuple, space.in_force) == pool_tuple
        ]
        cores = [core for core in alike or tuples if space.contains(tuples[core])]
        if not cores:
            raise SettingError(
                f"workload {sweep.workload_id!r} was measured under no configuration that this search may try"
            )
        entries = [sweep.entries[core] for core in cores]
        points = space.encode_all([tuples[core] for core in cores])
        metrics = np.stack([_metrics(entry) for entry in entries])
        values = np.array([_value(entry, objective, target) for entry in entries])
        distinct, row_of = np.unique(points, axis=0, return_inverse=True)
        rows = [row_of.ravel() == index for index in range(len(distinct))]
        return cls(
            sweep.workload_id,
            distinct,
            np.stack([metrics[same].mean(axis=0) for same in rows]),
            np.array([values[same].mean() for same in rows]),
        )


def stored_workloads(
    sweeps: Sequence[WorkloadSweep], space: SearchSpace, objective: Objective, target: Goal = "objective"
) -> list[StoredWorkload]:
    """Takes many sweeps into a search space; see `StoredWorkload.of`."""
    return [StoredWorkload.of(sweep, space, objective, target) for sweep in sweeps]


def _metrics(entry: SweepEntry) -> Floats:
    mean: Floats = np.stack([scaled(window.profile.features) for window in entry.windows]).mean(axis=0)
    return mean


def _value(entry: SweepEntry, objective: Objective, target: Goal) -> float:
    values = [target_value(window, objective, target) for window in entry.windows]
    return penalised(float(np.mean(values)), entry.feasible)
