"""An environment on any pool server."""

from collections.abc import Callable, Mapping
from typing import Any, SupportsIndex, TypedDict

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.environments.grid_env import GridEnv
from poolpilot.env.measurement.protocol import MeasurementSettings, measure
from poolpilot.env.objective import Objective, regret
from poolpilot.env.observation import EncodedWindow, encode_window
from poolpilot.env.servers.curve import CurveServer, Table
from poolpilot.env.tuning.factory import own_target
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

RISE_AND_FALL: Table = ((1, 100), (2, 190), (4, 350), (8, 560), (16, 700), (32, 610), (64, 400), (128, 220))
"""Throughput that contention takes back beyond 16 groups."""


OpenTarget = Callable[[np.random.Generator], Target]
"""Opens a server for the next episode; the generator is the environment's."""


class PoolOptions(TypedDict, total=False):
    """Arguments of `PoolEnv` that every environment on a server takes."""

    settings: MeasurementSettings | None
    grid: ActionGrid
    horizon: int
    render_mode: str | None


class PoolEnv(GridEnv):
    """Measures every chosen tuple on a server, which is opened anew for every episode.

    The reward is minus the regret of the window where the oracle is known, else the change of J.

    Args:
        open_target: Opens the server of an episode; the environment closes it.
        settings: How long a tuple is measured.
        grid: The tuples to choose from.
        horizon: Decisions of an episode.
        render_mode: None or "ansi".
        server: One's own server instead, as `module:factory`; an example curve if neither is given.

    Raises:
        SettingError: Both a target and a server are given.

    Examples:
        >>> import gymnasium
        >>> env = gymnasium.make("poolpilot.env.environments:poolpilot/Pool-v0", horizon=1)
        >>> observation, info = env.reset(seed=0)
        >>> info["pool_tuple"]["pool_size"], round(info["goodput_per_s"])
        (4, 346)
        >>> env.close()
    """

    def __init__(
        self,
        open_target: OpenTarget | None = None,
        settings: MeasurementSettings | None = None,
        grid: ActionGrid = DEFAULT_GRID,
        horizon: int = 3,
        render_mode: str | None = None,
        server: str | None = None,
    ) -> None:
        super().__init__(grid, horizon, render_mode)
        if open_target is not None and server is not None:
            raise SettingError("give either open_target or server, not both")
        own = open_example if server is None else lambda _: own_target(server)
        self._open_target = own if open_target is None else open_target
        self._settings = MeasurementSettings() if settings is None else settings
        self._target: Target | None = None

    @property
    def workload(self) -> str:
        """Name of the episode's workload; empty where its target has none."""
        return "" if self._target is None else self._target.name

    @property
    def oracle_value(self) -> float | None:
        """Greatest J there is on that workload; None where its target does not know it."""
        return None if self._target is None else self._target.oracle_value

    def close(self) -> None:
        """Closes the server; a second call does nothing."""
        target, self._target = self._target, None
        self._entries, self._tuples = [], []
        if target is not None:
            target.server.close()

    def _begin(self, options: Mapping[str, Any]) -> tuple[PoolTuple, EncodedWindow, NDArray[np.bool_]]:
        self.close()
        self._target = self._open_target(self.np_random)
        server = self._target.server
        try:
            mask = self.grid.mask(server.knobs)
            start = self._tuple_of(options["start"], mask) if "start" in options else server.tuple_in_force()
            return start, self._measured(start), mask
        except BaseException:
            self.close()
            raise

    def _choose(self, pool_tuple: PoolTuple) -> tuple[EncodedWindow, float]:
        entry = self._measured(pool_tuple)
        oracle_value = self._held.oracle_value
        reward = entry.value - self._entries[-1].value if oracle_value is None else -regret(entry.value, oracle_value)
        return entry, reward

    @property
    def _held(self) -> Target:
        assert self._target is not None, "step() checks that an episode has begun"
        return self._target

    @override
    def _tuple_of(self, asked: SupportsIndex, mask: NDArray[np.bool_]) -> PoolTuple:
        """The tuple of an action; an action names the core alone, so that what else is in force stays."""
        return self._held.server.tuple_in_force().with_core(super()._tuple_of(asked, mask).core)

    def _measured(self, pool_tuple: PoolTuple) -> EncodedWindow:
        server, objective = self._held.server, self._held.objective
        return encode_window(measure(server, pool_tuple, self._settings).window, server.knobs, objective)


def open_example(rng: np.random.Generator) -> Target:
    """Opens a curve whose best size is 16, with one per cent of noise."""
    server = CurveServer(RISE_AND_FALL, noise=0.01, seed=int(rng.integers(2**31)))
    return Target(server, Objective(), name="rise_and_fall")
