"""The environment of warm starts: one decision, then a whole climb from it."""

from collections.abc import Callable

import numpy as np

from poolpilot.env.controller import Controller
from poolpilot.env.environments.pool_env import OpenProblem, PoolEnv, Problem
from poolpilot.env.ladder import DEFAULT_LADDER, Ladder
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import EncodedWindow, encode_window
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

OpenController = Callable[[PoolTuple, Problem], Controller]
"""Makes the controller that climbs from a tuple."""


class WarmStartClimbEnv(PoolEnv):
    """The action is the tuple a climb starts from; the reward is minus the share of J's worth lost on the way.

    That is the mean regret of the climb's windows against the oracle or, where it is unknown, against the best
    window of the climb itself. The last observation holds the last window of the climb; `trace` all of them.

    Args:
        open_problem: Opens the server of an episode; the environment closes it.
        open_controller: Makes the controller.
        period_s: Length of a window of the climb in seconds.
        climb_s: Length of the climb in seconds.
        settings: How long the starting tuple is measured.
        ladder: The tuples to choose from.
        render_mode: None or "ansi".

    Raises:
        SettingError: The climb is shorter than one window.
    """

    def __init__(
        self,
        open_problem: OpenProblem,
        open_controller: OpenController,
        period_s: float = 0.25,
        climb_s: float = 20.0,
        settings: MeasurementSettings | None = None,
        ladder: Ladder = DEFAULT_LADDER,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(open_problem, settings, ladder, 1, render_mode)
        if not 0.0 < period_s <= climb_s:
            raise SettingError(f"period_s is {period_s}, but must be above 0 and at most climb_s ({climb_s})")
        self._open_controller = open_controller
        self._period_s = period_s
        self._climb_s = climb_s
        self.trace: TuningTrace | None = None

    def _choose(self, pool_tuple: PoolTuple) -> tuple[EncodedWindow, float]:
        problem = self._held
        server, objective = problem.server, problem.objective
        server.apply(pool_tuple)
        controller = self._open_controller(pool_tuple, problem)
        self.trace = tune(server, controller, objective, period_s=self._period_s, horizon_s=self._climb_s)
        oracle_value = self.trace.best_value if problem.oracle_value is None else problem.oracle_value
        last = self.trace.steps[-1].measured.window
        return encode_window(last, server.knobs, objective), -self.trace.mean_regret(oracle_value)


def recorded_problems(sweeps: list[WorkloadSweep]) -> OpenProblem:
    """Problems that replay one of the sweeps, drawn for every episode."""

    def open_problem(rng: np.random.Generator) -> Problem:
        sweep = sweeps[int(rng.integers(len(sweeps)))]
        server = RecordedServer(sweep, seed=int(rng.integers(2**31)))
        return Problem(server, sweep.objective, sweep.oracle_value)

    return open_problem
