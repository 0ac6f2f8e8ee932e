"""The environment of the simulated pool: the live pool's responses in virtual time, and repeatable."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, SupportsIndex

import gymnasium
import numpy as np
from numpy.typing import NDArray

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.environments.drawn_workloads import given_or_drawn
from poolpilot.env.environments.grid_env import GridEnv, whole_number
from poolpilot.env.observation import EncodedWindow, Observation, encode_window
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, measure_all
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

LARGEST_SEED = 2**31


class SimulatedPoolEnv(GridEnv):
    """Each episode draws a scenario and a seed, and simulates a pool from time 0; the reward is the change of J.

    Args:
        scenarios: The scenarios to draw from; workloads of the families if None.
        settings: How long a tuple is simulated.
        grid: The tuples to choose from.
        horizon: Decisions of an episode.
        render_mode: None or "ansi".
        family: Family to draw a workload from instead of scenarios; one of every training family if None.
        seed: Seed of that draw, as in `poolpilot climb --seed`; an episode's own seed is that of `reset`.

    Raises:
        SettingError: There is no scenario or no such family, or both are given.

    Examples:
        >>> import gymnasium
        >>> env = gymnasium.make("poolpilot.env.environments:poolpilot/SimulatedPool-v0", family="page_faults")
        >>> observation, info = env.reset(seed=0)
        >>> observation, reward, terminated, truncated, info = env.step(26)
        >>> info["workload"], info["pool_tuple"]["pool_size"], reward > 1.0
        ('page_faults-1-0', 64, True)
    """

    OPTIONS: ClassVar[tuple[str, ...]] = ("start", "workload")

    def __init__(
        self,
        scenarios: Sequence[Scenario] | None = None,
        settings: SimulatedMeasurement | None = None,
        grid: ActionGrid = DEFAULT_GRID,
        horizon: int = 3,
        render_mode: str | None = None,
        family: str | None = None,
        seed: int = 1,
    ) -> None:
        super().__init__(grid, horizon, render_mode)
        self._scenarios = given_or_drawn(scenarios, family, seed, Scenario)
        if not self._scenarios:
            raise SettingError("the simulated pool needs at least one scenario to simulate")
        self._settings = settings or SimulatedMeasurement()
        self._scenario = self._scenarios[0]
        self._server: SimulatedServer | None = None

    @property
    def server(self) -> SimulatedServer:
        """The server of the episode.

        Raises:
            gymnasium.error.ResetNeeded: No episode has begun.
        """
        if self._server is None:
            raise gymnasium.error.ResetNeeded("no episode has begun: call reset() first")
        return self._server

    @property
    def workload(self) -> str:
        """Name of the episode's workload."""
        return self._scenario.workload.name

    @property
    def oracle_value(self) -> None:
        """None: nobody has simulated every tuple."""
        return None

    def prepare_reset(self, options: Mapping[str, Any], seed: int | None = None) -> PoolTuple:
        """The first half of a reset, for a vector: draws a scenario, opens its server, names the starting tuple.

        Args:
            options: "workload" takes the scenario at that place; "start" is an action whose tuple to start from.
            seed: Seed of the episode and those that follow.

        Raises:
            SettingError: An option is outside its range.
        """
        self.close()
        if seed is not None:
            gymnasium.Env.reset(self, seed=seed)
        asked = options.get("workload", self.np_random.integers(len(self._scenarios)))
        drawn = whole_number(asked, "option 'workload'")
        if not 0 <= drawn < len(self._scenarios):
            raise SettingError(f"option 'workload' is {drawn}, outside 0..{len(self._scenarios) - 1}")
        scenario = self._scenarios[drawn]
        workload = replace(scenario.workload, seed=int(self.np_random.integers(LARGEST_SEED)))
        self._scenario = replace(scenario, workload=workload)
        server = self._scenario.open()
        mask = self.grid.mask(server.knobs)
        start = self._tuple_of(options["start"], mask) if "start" in options else server.tuple_in_force()
        self._server = server
        return start

    def finish_reset(self, window: Window) -> tuple[Observation, dict[str, Any]]:
        """The second half: takes the window of the starting tuple."""
        return self._begun(window.pool_tuple, self._encoded(window), self.grid.mask(self.server.knobs))

    def prepare_step(self, action: SupportsIndex) -> PoolTuple:
        """The first half of a step, for a vector: the tuple to measure.

        Raises:
            SettingError: The mask forbids the action.
            gymnasium.error.ResetNeeded: The episode has ended or not begun.
        """
        return self._asked(action)

    def finish_step(self, window: Window) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """The second half: takes the window of that tuple."""
        entry = self._encoded(window)
        return self._answered(window.pool_tuple, entry, self._reward(entry))

    def close(self) -> None:
        """Forgets the server, which holds nothing but memory."""
        self._server = None
        self._entries, self._tuples = [], []

    def _begin(self, options: Mapping[str, Any]) -> tuple[PoolTuple, EncodedWindow, NDArray[np.bool_]]:
        start = self.prepare_reset(options)
        return start, self._measured(start), self.grid.mask(self.server.knobs)

    def _choose(self, pool_tuple: PoolTuple) -> tuple[EncodedWindow, float]:
        entry = self._measured(pool_tuple)
        return entry, self._reward(entry)

    def _measured(self, pool_tuple: PoolTuple) -> EncodedWindow:
        return self._encoded(measure_all([self.server], [pool_tuple], self._settings, threads=1)[0])

    def _encoded(self, window: Window) -> EncodedWindow:
        return encode_window(window, self.server.knobs, self._scenario.objective)

    def _reward(self, entry: EncodedWindow) -> float:
        return entry.value - self._entries[-1].value
