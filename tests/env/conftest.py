"""What the tests of env share: windows made to measure and sweeps of a curve."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings, sweep
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.featurizer.histogram import Histogram, bucket_of
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, Snapshot
from poolpilot.featurizer.window import Window

HUMP = ((1, 100.0), (4, 400.0), (16, 900.0), (64, 300.0))

MakeWindow = Callable[..., Window]
MakeSweep = Callable[..., WorkloadSweep]


@pytest.fixture
def make_window() -> MakeWindow:
    """Builds a window of given completions: {class: {latency in ms: count}}."""

    def make(
        classes: Mapping[str, Mapping[float, int]], pool_tuple: PoolTuple | None = None, duration_s: float = 1.0
    ) -> Window:
        in_force = pool_tuple or PoolTuple(4, 3, 500)
        histograms = {
            LATENCY_PREFIX + name: Histogram.from_sparse(
                [(bucket_of(ms * 1000.0), count) for ms, count in latencies.items()]
            )
            for name, latencies in classes.items()
        }
        gauges = {"connections": 64.0, "cpus": 4.0}
        before = Snapshot(0.0, 0, in_force, {"completed": 0.0}, gauges, {name: Histogram() for name in histograms})
        completed = float(sum(histogram.count for histogram in histograms.values()))
        return Window.between(before, Snapshot(duration_s, 0, in_force, {"completed": completed}, gauges, histograms))

    return make


@pytest.fixture
def make_sweep() -> MakeSweep:
    """Sweeps a curve with a hump at 16 groups by the real measurement."""

    def make(
        noise: float = 0.0,
        seed: int = 0,
        grid: ActionGrid = DEFAULT_GRID,
        objective: Objective | None = None,
        name: str = "hump",
    ) -> WorkloadSweep:
        wanted = objective or Objective()
        settings = MeasurementSettings(window_s=10.0)
        with CurveServer(HUMP, noise=noise, seed=seed) as server:
            measured = sweep(server, grid.tuples, wanted, settings, np.random.default_rng(seed))
            return WorkloadSweep.build(
                ((result.round, result.window) for result in measured),
                workload_id=name,
                family="curve",
                split="train",
                limits=server.knobs,
                objective=wanted,
            )

    return make


@pytest.fixture
def stock() -> KnobSpace:
    """The knobs of a stock server on four processors."""
    return KnobSpace.stock(4)
