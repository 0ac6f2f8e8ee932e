"""Scripts of the benchmarks can be imported, and a recorded workload is made of a few numbers."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import AGAIN_ROUND, Core, WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.featurizer.histogram import Histogram, bucket_of
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, Snapshot
from poolpilot.featurizer.window import Window

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

# The path of the benchmarks must be known first.
from rivals.recorded_cases import RecordedCase

MakeCase = Callable[..., RecordedCase]

FREE = Objective(price_of_thread=0.0)
GRID = ActionGrid(sizes=(1, 4, 16), oversubscribes=(3,), timer_intervals_ms=(500,))


def window_of(core: Core, count: int) -> Window:
    """A window of a second in which so many requests ended after a millisecond."""
    gauges = {"connections": 64.0, "cpus": 1.0}
    before = Snapshot(0.0, 0, PoolTuple(*core), {"completed": 0.0}, gauges, {LATENCY_PREFIX + "all": Histogram()})
    ended = {LATENCY_PREFIX + "all": Histogram.from_sparse([(bucket_of(1000.0), count)])}
    return Window.between(before, Snapshot(1.0, 0, PoolTuple(*core), {"completed": float(count)}, gauges, ended))


@pytest.fixture
def make_case() -> MakeCase:
    """Builds a case of the requests of each round of each tuple, and of the windows of the best one afresh."""

    def make(
        counts: Mapping[Core, Sequence[int]],
        again: Sequence[int],
        best: Core,
        family: str = "family",
        objective: Objective = FREE,
    ) -> RecordedCase:
        afresh = [window_of(best, count) for count in again]
        rounds = [(place, window_of(core, count)) for core, each in counts.items() for place, count in enumerate(each)]
        sweep = WorkloadSweep.build(
            [*rounds, *((AGAIN_ROUND, window) for window in afresh)],
            workload_id=f"{family}-1",
            family=family,
            split="train",
            limits=KnobSpace.stock(1),
            objective=objective,
        )
        return RecordedCase("native", "cpu", sweep, GRID, tuple(afresh))

    return make
