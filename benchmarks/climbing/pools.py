"""Simulated pools that controllers are let loose on: the same seed gives the same run."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache

import numpy as np

from climbing.score import score
from climbing.server_controllers import SIZE_GRID, MakeController, controllers
from climbing.shapes import Landscape
from harness.experiment import Found, Task
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.controller import Controller, Trial
from poolpilot.env.measurement.protocol import MeasurementSettings, sweep
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, simulate_batch
from poolpilot.env.tuning.loop import tune
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES, draw_scenario
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

FAMILIES = (
    *("sim_io_bound", "sim_hot_latch", "sim_commit_bound"),
    *("twin_silent_single", "twin_silent_beside_cpu", "twin_silent_then_latch", "twin_latch_beside_cpu"),
)
"""Simulated families in which the pool size matters."""

STARTS = ("default", "largest")
PLACES = tuple(f"{family}, from {start}" for family in FAMILIES for start in STARTS)

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Sizes whose throughput is measured; between them it is interpolated in the logarithm of the size."""

TRAINING_SEEDS = (101, 102)
"""Draws of each family that predictors learn from; the cells are other draws."""

SAMPLES, QUICK_SAMPLES = 300, 32
CLIMB = ClimbSettings(period_s=0.1)
OBJECTIVE = Objective()
SWEEP = MeasurementSettings(keep_shares=(1.0,), finalists=1, final_repeats=0, oracle_repeats=0)


def measured(task: Task) -> Found:
    """Lets one controller loose on a fresh pool."""
    family, start = task.scenario.split(", from ")
    with _scenario(family, task.seed).open() as server:
        server.apply(_started(server, start))
        controller = _controllers()[task.arm](server, OBJECTIVE, task.seed)
        horizon_s = (QUICK_SAMPLES if task.quick else SAMPLES) * CLIMB.period_s
        trace = tune(server, _Fixed(controller), OBJECTIVE, period_s=CLIMB.period_s, horizon_s=horizon_s)
    return asdict(score(np.array([step.pool_tuple.pool_size for step in trace.steps]), landscape(family, task.seed)))


@lru_cache(maxsize=256)
def landscape(family: str, seed: int) -> Landscape:
    """What every size gives: of long simulations, each from a fresh pool, interpolated."""
    tuples = [PoolTuple(size, 3, 500) for size in SIZES]
    long = SimulatedMeasurement(settle_s=1.0)
    columns = simulate_batch([_scenario(family, seed)], tuples, 20_000, settings=long, threads=1)
    sizes = np.arange(1, max(SIZES) + 1)
    rates = np.interp(np.log(sizes), np.log(SIZES), columns["throughput_per_s"].tolist())
    return Landscape(rates, OBJECTIVE.price_of_thread)


@lru_cache(maxsize=1)
def _controllers() -> Mapping[str, MakeController]:
    return controllers(training(), CLIMB)


def training() -> Sequence[WorkloadSweep]:
    """Sweeps of other draws of the families."""
    return [_swept(family, seed) for family in FAMILIES for seed in TRAINING_SEEDS]


def _swept(family: str, seed: int) -> WorkloadSweep:
    with _scenario(family, seed).open() as server:
        tuples = [one for one in SIZE_GRID.tuples if server.knobs.allows(one)]
        results = sweep(server, tuples, OBJECTIVE, SWEEP, np.random.default_rng(seed))
        return WorkloadSweep.build(
            [(one.round, one.window) for one in results],
            workload_id=f"{family}-{seed}",
            family=family,
            split="train",
            limits=server.knobs,
            objective=OBJECTIVE,
        )


class _Fixed(Controller):
    """A controller whose own wish for the length of a window is not heard: all see the same windows."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def suggest(self) -> Trial:
        return Trial(self._controller.suggest().pool_tuple)

    def observe(self, window: Window) -> None:
        self._controller.observe(window)


def _started(server: PoolServer, start: str) -> PoolTuple:
    default = server.knobs.default_tuple()
    size = default.pool_size if start == "default" else int(server.knobs.knobs["pool_size"].high)
    return default.with_core((size, default.oversubscribe, default.timer_interval_ms))


def _scenario(family: str, seed: int) -> Scenario:
    return draw_scenario(SIMULATED_FAMILIES[family], seed)
