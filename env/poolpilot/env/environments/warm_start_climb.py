"""The environment of warm starts: one decision, then a whole climb from it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.controller import Controller
from poolpilot.env.environments.pool_env import OpenTarget, PoolEnv, PoolOptions
from poolpilot.env.measurement.sample_sweeps import sample_sweeps
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.observation import EncodedWindow, encode_window
from poolpilot.env.servers.recorded import RecordedServer
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

LEAST_PERIOD_S = 0.001
"""Shortest window of a climb."""

OpenController = Callable[[PoolTuple, Target], Controller]
"""Makes the controller that climbs from a tuple."""


class WarmStartClimbEnv(PoolEnv):
    """The action is the tuple a climb starts from; the reward is minus the share of J's worth lost on the way.

    That is the mean regret of the climb's windows against the oracle or, where it is unknown, against the best
    window of the climb itself. The last observation holds the last window of the climb; `trace` all of them, until the
    next episode begins.

    Args:
        open_target: Opens the server of an episode; the environment closes it. The sweeps that come with the package
            are replayed if None.
        open_controller: Makes the controller; a warm spectral climber with windows of `period_s` if None.
        period_s: Length of a window of the climb in seconds where the controller asks for no other.
        climb_s: Length of the climb in seconds.
        family: Family of the sweep that comes with the package; all training families if None.
        **options: Further arguments of `PoolEnv`: settings (of the starting tuple), grid, render_mode.

    Raises:
        SettingError: The climb is shorter than one window, a horizon other than 1 is given, or both a target and a
            family are.

    Examples:
        >>> env = WarmStartClimbEnv(family="page_faults", climb_s=5.0)
        >>> observation, info = env.reset(seed=0)
        >>> observation, reward, terminated, truncated, info = env.step(26)
        >>> terminated, len(env.trace.steps), reward > -0.5
        (True, 50, True)
    """

    def __init__(
        self,
        open_target: OpenTarget | None = None,
        open_controller: OpenController | None = None,
        period_s: float = 0.1,
        climb_s: float = 20.0,
        family: str | None = None,
        **options: Unpack[PoolOptions],
    ) -> None:
        if open_target is not None and family is not None:
            raise SettingError("give either open_target or the family of a sweep that comes with the package, not both")
        targets = recorded_targets(sample_sweeps(family)) if open_target is None else open_target
        if options.setdefault("horizon", 1) != 1:
            raise SettingError(
                f"the horizon is {options['horizon']}, but an episode is one decision here; leave it out, and say with "
                "climb_s how long the climb is"
            )
        super().__init__(targets, **options)
        if not LEAST_PERIOD_S <= period_s <= climb_s:
            raise SettingError(f"period_s is {period_s}, but must be in {LEAST_PERIOD_S}..climb_s ({climb_s})")
        self._open_controller = open_controller or partial(warm_climb, period_s=period_s)
        self._period_s = period_s
        self._climb_s = climb_s
        self.trace: TuningTrace | None = None

    @override
    def _begin(self, options: Mapping[str, Any]) -> tuple[PoolTuple, EncodedWindow, NDArray[np.bool_]]:
        self.trace = None
        return super()._begin(options)

    def _choose(self, pool_tuple: PoolTuple) -> tuple[EncodedWindow, float]:
        target = self._held
        server, objective = target.server, target.objective
        server.apply(pool_tuple)
        controller = self._open_controller(pool_tuple, target)
        self.trace = tune(server, controller, objective, period_s=self._period_s, horizon_s=self._climb_s)
        if not self.trace.steps:
            raise SettingError(
                f"the controller has seen no window within climb_s ({self._climb_s}): its own are longer; give a "
                "longer climb_s, or a controller with shorter windows"
            )
        oracle_value = self.trace.best_value if target.oracle_value is None else target.oracle_value
        last = self.trace.steps[-1].measured.window
        return encode_window(last, server.knobs, objective), -self.trace.mean_regret(oracle_value)


def recorded_targets(sweeps: list[WorkloadSweep]) -> OpenTarget:
    """Replays one of the sweeps, drawn for every episode.

    Raises:
        SettingError: There is none.
    """
    if not sweeps:
        raise SettingError("a replay needs at least one sweep; collect some first")

    def open_target(rng: np.random.Generator) -> Target:
        sweep = sweeps[int(rng.integers(len(sweeps)))]
        server = RecordedServer(sweep, seed=int(rng.integers(2**31)))
        return Target(server, sweep.objective, sweep.workload_id, oracle_value=sweep.oracle_value)

    return open_target


def warm_climb(pool_tuple: PoolTuple, target: Target, period_s: float = 0.1) -> Controller:
    """A spectral climber that holds the tuple it starts from until what it sees changes."""
    # Here, so that the other environments do not need the native module.
    from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber

    climber = spectral_climber(ClimbSettings(period_s=period_s), target.server.knobs, pool_tuple.pool_size, warm=True)
    return ClimbController(climber, pool_tuple, target.objective)
