"""Pools as suites: simulated in virtual time, or live."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.controller import Controller, Trial
from poolpilot.env.measurement.protocol import MeasurementSettings, sweep
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, simulate_batch
from poolpilot.env.tuning.loop import tune
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.env.workloads.simulated_families import SIMULATED_FAMILIES, draw_scenario
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.pipelines.bench.climbing.score import Score, score
from poolpilot.pipelines.bench.climbing.server_controllers import SIZE_GRID, MakeController, controllers
from poolpilot.pipelines.bench.climbing.shapes import Landscape
from poolpilot.pipelines.bench.climbing.suite import Task
from poolpilot.pipelines.collect.servers import open_native

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Sizes whose throughput is measured; between them it is interpolated in the logarithm of the size."""

STARTS = ("default", "one", "largest")
TRAINING_SEEDS = (101, 102)
"""Draws of each family that predictors learn from; the cells are other draws."""

OBJECTIVE = Objective()
SWEEP = MeasurementSettings(keep_shares=(1.0,), finalists=1, final_repeats=0, oracle_repeats=0)


@dataclass(frozen=True)
class ServerSuite(ABC):
    """Workloads of some families on pools.

    Attributes:
        names: Names of the controllers.
        families: Names of the families.
        starts: Where runs begin, among `STARTS`.
        seeds: Draws of each family.
        samples: Length of a run in windows.
        climb: How our climber samples; its period is the window of all.
    """

    names: tuple[str, ...]
    families: tuple[str, ...]
    starts: tuple[str, ...]
    seeds: int
    samples: int
    climb: ClimbSettings

    @abstractmethod
    def open(self, family: str, seed: int) -> PoolServer:
        """A fresh pool under the workload of a draw."""

    @abstractmethod
    def throughputs(self, family: str, seed: int) -> Mapping[int, float]:
        """Throughput a second by size, as good as it can be measured."""

    def tasks(self) -> list[Task]:
        """Every run, controllers interleaved."""
        cells = [f"{family}, from {start}" for family in self.families for start in self.starts]
        return [Task(name, cell, seed) for cell in cells for seed in range(1, self.seeds + 1) for name in self.names]

    def run(self, task: Task) -> Score:
        """Lets one controller loose on a fresh pool."""
        family, start = task.cell.split(", from ")
        landscape = self.landscape(family, task.seed)
        with self.open(family, task.seed) as server:
            server.apply(_started(server, start))
            controller = _controllers(self)[task.controller](server, OBJECTIVE, task.seed)
            period_s = self.climb.period_s
            horizon_s = self.samples * period_s
            trace = tune(server, _Fixed(controller), OBJECTIVE, period_s=period_s, horizon_s=horizon_s)
        return score(np.array([step.pool_tuple.pool_size for step in trace.steps]), landscape)

    def describe(self, cell: str) -> dict[str, Any]:
        """What a cell is, fit for JSON."""
        family, start = cell.split(", from ")
        return {"family": family, "start": start}

    def landscape(self, family: str, seed: int) -> Landscape:
        """What every size gives, interpolated."""
        return _landscape(self, family, seed)

    def training(self) -> Sequence[WorkloadSweep]:
        """Sweeps of other draws of the families."""
        return [self._swept(family, seed) for family in self.families for seed in TRAINING_SEEDS]

    def _swept(self, family: str, seed: int) -> WorkloadSweep:
        with self.open(family, seed) as server:
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


@dataclass(frozen=True)
class SimulatedSuite(ServerSuite):
    """Simulated pools: the same seed gives the same run."""

    def open(self, family: str, seed: int) -> PoolServer:
        """A simulated pool."""
        return _scenario(family, seed).open()

    def throughputs(self, family: str, seed: int) -> Mapping[int, float]:
        """Of long simulations, each from a fresh pool."""
        tuples = [PoolTuple(size, 3, 500) for size in SIZES]
        long = SimulatedMeasurement(settle_s=1.0)
        columns = simulate_batch([_scenario(family, seed)], tuples, 20_000, settings=long, threads=1)
        return dict(zip(SIZES, columns["throughput_per_s"].tolist(), strict=True))


@dataclass(frozen=True)
class NativeSuite(ServerSuite):
    """Live pools in real time; one run at a time."""

    def open(self, family: str, seed: int) -> PoolServer:
        """The embedded pool."""
        return open_native(draw_workload(FAMILIES[family], seed))

    def throughputs(self, family: str, seed: int) -> Mapping[int, float]:
        """Of a sweep on the same machine, every size twice."""
        measurement = SWEEP.model_copy(update={"window_s": 1.0, "keep_shares": (1.0, 1.0)})
        with self.open(family, seed) as server:
            tuples = [PoolTuple(size, 3, 500) for size in SIZES]
            results = sweep(server, tuples, OBJECTIVE, measurement, np.random.default_rng(seed))
        rates: dict[int, list[float]] = {size: [] for size in SIZES}
        for one in results:
            rates[one.window.pool_tuple.pool_size].append(one.window.throughput_per_s)
        return {size: float(np.mean(found)) for size, found in rates.items()}


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
    sizes = server.knobs.knobs["pool_size"]
    size = {"default": default.pool_size, "one": 1, "largest": int(sizes.high)}[start]
    return default.with_core((size, default.oversubscribe, default.timer_interval_ms))


def _scenario(family: str, seed: int) -> Scenario:
    return draw_scenario(SIMULATED_FAMILIES[family], seed)


@lru_cache(maxsize=1)
def _controllers(suite: ServerSuite) -> Mapping[str, MakeController]:
    learned = {"nearest", "trees", "ottertune"} & set(suite.names)
    return controllers(suite.training() if learned else (), suite.climb)


@lru_cache(maxsize=256)
def _landscape(suite: ServerSuite, family: str, seed: int) -> Landscape:
    found = suite.throughputs(family, seed)
    sizes = np.arange(1, max(found) + 1)
    rates = np.interp(np.log(sizes), np.log(list(found)), list(found.values()))
    return Landscape(rates, OBJECTIVE.price_of_thread)
