"""One workload of the demonstration: the prediction, the cold climb, the sweep, and the comparison of their tuples."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from poolpilot.agent.controllers.warm_start import WarmStart, climb_controller
from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.measurement.protocol import Measured, measure, sweep
from poolpilot.env.measurement.sweep import Core, WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.tuning.loop import TuningStep, TuningTrace, tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.pipelines.demo.demo_settings import DemoSettings
from poolpilot.pipelines.evaluate.stage import Stage


class Watcher:
    """Is told what happens, for a live screen; this one ignores it."""

    def phase(self, workload: str, name: str) -> None:
        """A phase of a workload begins."""

    def step(self, step: TuningStep) -> None:
        """A window of a climb was measured."""

    def measured(self, one: Measured) -> None:
        """A window of the sweep or of the comparison was measured."""


@dataclass(frozen=True, slots=True)
class DemoRun:
    """What was measured of one workload.

    Attributes:
        stage: The workload and its server.
        swept: The sweep over the grid.
        default: The tuple a server starts with.
        predictions: What the model said, in order.
        predicted: The run that starts with the prediction.
        cold: The cold climb.
        judged: Windows of the comparison by core tuple.
    """

    stage: Stage
    swept: WorkloadSweep
    default: PoolTuple
    predictions: tuple[Prediction, ...]
    predicted: TuningTrace
    cold: TuningTrace
    judged: dict[Core, list[Window]]

    @property
    def objective(self) -> Objective:
        """What counts."""
        return self.stage.objective

    @property
    def oracle(self) -> Core:
        """The best tuple of the sweep."""
        return self.swept.oracle_tuple.core


@dataclass(frozen=True)
class WorkloadDemo:
    """Runs the phases of one workload, each on a fresh server.

    Attributes:
        stage: The workload and its server.
        settings: For how long.
        predictor: What the warm start tries by.
        static_tuple: Single best static tuple of the training workloads.
        watcher: Is told of every window.
    """

    stage: Stage
    settings: DemoSettings
    predictor: Predictor
    static_tuple: Core
    watcher: Watcher

    def run(self) -> DemoRun:
        """Runs all phases.

        Raises:
            ServerError: The pool or its load failed.
        """
        objective = self.stage.objective
        predictions, predicted = self._predicted(objective)
        cold = self._cold(objective)
        with self._server("sweep") as server:
            default = server.tuple_in_force()
            swept = self._sweep(server, objective)
            compared = (
                default.core,
                swept.oracle_tuple.core,
                self.static_tuple,
                predicted.final_tuple.core,
                cold.final_tuple.core,
            )
            judged = self._compare(server, [default.with_core(core) for core in dict.fromkeys(compared)])
        return DemoRun(self.stage, swept, default, predictions, predicted, cold, judged)

    def _predicted(self, objective: Objective) -> tuple[tuple[Prediction, ...], TuningTrace]:
        with self._server("prediction and warm climb") as server:
            climb, warm_start = self.settings.climb, self.settings.warm_start
            controller = climb_controller(climb, server, objective, predictor=self.predictor, warm_start=warm_start)
            horizon_s, on_step = self.settings.horizon_s, self.watcher.step
            trace = tune(server, controller, objective, horizon_s=horizon_s, on_step=on_step)
        assert isinstance(controller, WarmStart)
        return tuple(controller.predictions), trace

    def _cold(self, objective: Objective) -> TuningTrace:
        with self._server("cold climb") as server:
            return tune(
                server,
                climb_controller(self.settings.climb, server, objective, warm_start=self.settings.warm_start),
                objective,
                period_s=self.settings.climb.period_s,
                horizon_s=self.settings.horizon_s,
                on_step=self.watcher.step,
            )

    def _sweep(self, server: PoolServer, objective: Objective) -> WorkloadSweep:
        in_force = server.tuple_in_force()
        tuples = [
            in_force.with_core(one.core)
            for one, allowed in zip(LARGE_GRID.tuples, LARGE_GRID.mask(server.knobs), strict=True)
            if allowed
        ]
        measured = sweep(
            server, tuples, objective, self.settings.racing, self._rng(0), on_measured=self.watcher.measured
        )
        return WorkloadSweep.build(
            [(one.round, one.window) for one in measured],
            workload_id=self.stage.name,
            family=self.stage.family,
            split="test",
            limits=server.knobs,
            objective=objective,
        )

    def _compare(self, server: PoolServer, tuples: list[PoolTuple]) -> dict[Core, list[Window]]:
        """Measures the tuples in interleaved random order, so that drift of the machine strikes all alike."""
        self.watcher.phase(self.stage.name, "comparison")
        settings = self.settings.racing.model_copy(update={"window_s": self.settings.judged_window_s})
        rng = self._rng(1)
        judged: dict[Core, list[Window]] = {one.core: [] for one in tuples}
        for _ in range(self.settings.judged_repeats):
            for place in rng.permutation(len(tuples)):
                measured = measure(server, tuples[place], settings)
                judged[measured.core].append(measured.window)
                self.watcher.measured(measured)
        return judged

    @contextmanager
    def _server(self, phase: str) -> Iterator[PoolServer]:
        self.watcher.phase(self.stage.name, phase)
        with self.stage.open_server() as server:
            yield server

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.settings.seed, self.stage.seed, stream])
