"""One workload of the demonstration: the warm start, the cold climb, the sweep, and the comparison."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from poolpilot.agent.controllers.warm_start import WarmStart, climb_controller
from poolpilot.env.action_grid import DEFAULT_GRID
from poolpilot.env.measurement.protocol import Measured, measure, sweep
from poolpilot.env.measurement.sweep import Core, WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.tuning.loop import TuningStep, TuningTrace, tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.pipelines.demo.deadline import Deadline
from poolpilot.pipelines.demo.demo_comparison import LEAST_ROUNDS, MOST_ROUNDS, DemoComparison
from poolpilot.pipelines.demo.demo_schedule import SWEEP_SHARE, DemoSchedule
from poolpilot.pipelines.evaluate.stage import Stage

WANTED_ERROR = 0.02
"""Standard error of a distance to the best, in J, below which more rounds are not worth their time."""


class Watcher:
    """Is told what happens, for a live screen; this one ignores it."""

    def phase(self, workload: str, name: str) -> None:
        """A phase of a workload begins."""

    def warmed(self, trace: TuningTrace) -> None:
        """The warm start is done."""

    def step(self, step: TuningStep) -> None:
        """A window of a climb was measured."""

    def measured(self, one: Measured) -> None:
        """A window of the sweep or of the comparison was measured."""


class _SweepEnds(Exception):
    """The sweep has used its time up."""


@dataclass(frozen=True, slots=True)
class DemoRun:
    """What was measured of one workload.

    Attributes:
        stage: The workload and its server.
        horizon_s: Seconds that each climb was watched.
        swept: The sweep over the grid.
        windows_left: Windows of the sweep for which there was no time.
        default: The configuration a server starts with.
        predictions: What the model said, in order.
        warm: The run that starts with the prediction.
        cold: The cold climb.
        compared: The comparison.
    """

    stage: Stage
    horizon_s: float
    swept: WorkloadSweep
    windows_left: int
    default: PoolTuple
    predictions: tuple[Prediction, ...]
    warm: TuningTrace
    cold: TuningTrace
    compared: DemoComparison


@dataclass(frozen=True)
class WorkloadDemo:
    """Runs the phases of one workload, each on a fresh server.

    Attributes:
        stage: The workload and its server.
        schedule: How what is measured is measured.
        deadline: When it must be done.
        seed: Of the order in which things are measured.
        predictor: What the warm start tries by.
        static_tuple: Single best static configuration of the training workloads.
        watcher: Is told of every window.
    """

    stage: Stage
    schedule: DemoSchedule
    deadline: Deadline
    seed: int
    predictor: Predictor
    static_tuple: Core
    watcher: Watcher

    def run(self) -> DemoRun:
        """Runs all phases.

        Raises:
            ServerError: The pool or its load failed.
        """
        horizon_s = self.schedule.horizon_within(self.deadline.left_s)
        predictions, warm = self._warm(horizon_s)
        self.watcher.warmed(warm)
        cold = self._cold(horizon_s)
        with self._server("sweep") as server:
            default = server.tuple_in_force()
            measured, windows_left = self._sweep(server)
            swept = self._swept(measured, server)
            finalists = sorted(swept.entries, key=lambda core: swept.entries[core].value, reverse=True)
            ends = (default.core, self.static_tuple, cold.final_tuple.core, warm.final_tuple.core)
            cores = dict.fromkeys((*ends, *finalists[: self.schedule.sweep.finalists]))
            compared = self._compare(server, [default.with_core(core) for core in cores])
        return DemoRun(self.stage, horizon_s, swept, windows_left, default, predictions, warm, cold, compared)

    @property
    def _objective(self) -> Objective:
        return self.stage.objective

    def _warm(self, horizon_s: float) -> tuple[tuple[Prediction, ...], TuningTrace]:
        with self._server("warm start") as server:
            climb, warm_start = self.schedule.climb, self.schedule.warm_start
            objective, on_step = self._objective, self.watcher.step
            controller = climb_controller(climb, server, objective, predictor=self.predictor, warm_start=warm_start)
            trace = tune(server, controller, objective, horizon_s=horizon_s, on_step=on_step)
        assert isinstance(controller, WarmStart)
        return tuple(controller.predictions), trace

    def _cold(self, horizon_s: float) -> TuningTrace:
        with self._server("cold climb") as server:
            return tune(
                server,
                climb_controller(self.schedule.climb, server, self._objective, warm_start=self.schedule.warm_start),
                self._objective,
                period_s=self.schedule.climb.period_s,
                horizon_s=horizon_s,
                on_step=self.watcher.step,
            )

    def _sweep(self, server: PoolServer) -> tuple[list[Measured], int]:
        """The windows of the sweep, and how many there was no time for."""
        in_force, deadline = server.tuple_in_force(), self.deadline.part(SWEEP_SHARE)
        grid = zip(DEFAULT_GRID.tuples, DEFAULT_GRID.mask(server.knobs), strict=True)
        tuples = [in_force.with_core(one.core) for one, allowed in grid if allowed]
        measured: list[Measured] = []

        def on_measured(one: Measured) -> None:
            measured.append(one)
            self.watcher.measured(one)
            if deadline.is_past:
                raise _SweepEnds

        try:
            sweep(server, tuples, self._objective, self.schedule.sweep, self._rng(0), on_measured=on_measured)
        except _SweepEnds:
            return measured, self.schedule.sweep.most_windows(len(tuples)) - len(measured)
        return measured, 0

    def _swept(self, measured: Sequence[Measured], server: PoolServer) -> WorkloadSweep:
        return WorkloadSweep.build(
            [(one.round, one.window) for one in measured],
            workload_id=self.stage.name,
            family=self.stage.family,
            split="test",
            limits=server.knobs,
            objective=self._objective,
        )

    def _compare(self, server: PoolServer, tuples: Sequence[PoolTuple]) -> DemoComparison:
        """Measures the configurations in turns, in random order, until they are told apart or time is up."""
        self.watcher.phase(self.stage.name, "comparison")
        rng = self._rng(1)
        rounds: list[dict[Core, Window]] = []
        while len(rounds) < LEAST_ROUNDS or (not self.deadline.is_past and self._wants_more(rounds)):
            windows: dict[Core, Window] = {}
            for place in rng.permutation(len(tuples)):
                one = measure(server, tuples[place], self.schedule.judged)
                windows[one.core] = one.window
                self.watcher.measured(one)
            rounds.append({each.core: windows[each.core] for each in tuples})
        return DemoComparison(self._objective, tuple(rounds))

    def _wants_more(self, rounds: Sequence[dict[Core, Window]]) -> bool:
        """Whether another round is worth its time."""
        compared = DemoComparison(self._objective, tuple(rounds))
        unclear = (not compared.told_apart(core) and compared.error(core) > WANTED_ERROR for core in compared.cores)
        return len(rounds) < MOST_ROUNDS and any(unclear)

    @contextmanager
    def _server(self, phase: str) -> Iterator[PoolServer]:
        self.watcher.phase(self.stage.name, phase)
        with self.stage.open_server() as server:
            yield server

    def _rng(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, self.stage.seed, stream])
