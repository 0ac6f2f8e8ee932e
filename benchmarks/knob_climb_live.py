"""One workload of `knob_climb.py --live`: the embedded live pool, in real time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np

from knob_runs import CONTENDERS, row_of
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.measurement.protocol import MeasurementSettings, measure, sweep
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.servers.native import NativeServer
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import Workload

LIVE_FAMILIES = ("silent_single", "page_faults", "latch_single")
GRID = tuple(product((1, 4, 16, 64, 128), (1, 3, 12), (10, 500)))
SETTINGS = ClimbSettings(period_s=0.25)
IDLE_TIMEOUT_S = 1.0
"""As in staging: surplus threads of the tuple before should not linger."""

JUDGED_TWICE = 2


@dataclass(frozen=True)
class LiveTimes:
    """How long a live comparison takes, for 130 seconds a workload.

    Attributes:
        climb_s: Length of each climb in seconds.
    """

    climb_s: float = 30.0

    @property
    def swept(self) -> MeasurementSettings:
        """A short race over the grid for the oracle; every tuple is seen once, a third of them again."""
        window_s = self.climb_s / 40.0
        return MeasurementSettings(window_s=window_s, keep_shares=(0.3,), final_repeats=1, oracle_repeats=0)

    @property
    def judged(self) -> MeasurementSettings:
        """A longer window for the tuples of the table."""
        return MeasurementSettings(window_s=3.0 * self.climb_s / 40.0)


def compare_live(family: str, seed: int, times: LiveTimes) -> dict[str, Any]:
    """One workload: the oracle of the grid, the contenders and what they reach, each on a fresh pool."""
    workload = draw_workload(FAMILIES[family], seed)
    objective = Objective.of_classes(workload.classes)
    oracle = _oracle(workload, objective, times)
    samples = round(times.climb_s / SETTINGS.period_s)
    ends = {}
    for name, contender in CONTENDERS.items():
        with _opened(workload) as server:
            ends[name] = contender(server, objective, SETTINGS, samples)
    tuples = [oracle, _default(workload), *(one.end for one in ends.values())]
    return row_of(f"{family}-{seed}", oracle, ends, _judged(workload, tuples, objective, times))


def _default(workload: Workload) -> PoolTuple:
    return PoolTuple(workload.cpus, 3, 500, idle_timeout_s=IDLE_TIMEOUT_S)


def _opened(workload: Workload) -> NativeServer:
    return NativeServer(workload, initial=_default(workload))


def _oracle(workload: Workload, objective: Objective, times: LiveTimes) -> PoolTuple:
    tuples = [_default(workload).with_core(core) for core in dict.fromkeys([*GRID, _default(workload).core])]
    with _opened(workload) as server:
        measured = sweep(server, tuples, objective, times.swept, np.random.default_rng(0))
        swept = WorkloadSweep.build(
            ((one.round, one.window) for one in measured),
            workload_id=workload.name,
            family=workload.family,
            split="test",
            limits=server.knobs,
            objective=objective,
        )
    return _default(workload).with_core(swept.oracle_tuple.core)


def _judged(workload: Workload, tuples: Sequence[PoolTuple], objective: Objective, times: LiveTimes) -> list[float]:
    """Mean J of each tuple over interleaved windows of one pool; equal tuples are measured as one."""
    found: dict[PoolTuple, list[float]] = {one: [] for one in tuples}
    with _opened(workload) as server:
        for one in [*found] * JUDGED_TWICE:
            found[one].append(objective.value(measure(server, one, times.judged).window))
    return [fmean(found[one]) for one in tuples]
