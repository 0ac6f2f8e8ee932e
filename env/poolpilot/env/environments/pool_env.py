"""An environment on any pool server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.environments.grid_env import GridEnv
from poolpilot.env.measurement.protocol import MeasurementSettings, measure
from poolpilot.env.objective import Objective, regret
from poolpilot.env.observation import EncodedWindow, encode_window
from poolpilot.env.server import AnyServer
from poolpilot.env.servers.curve import CurveServer, Table
from poolpilot.env.tuning.factory import objective_of, open_server
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple

RISE_AND_FALL: Table = ((1, 100), (2, 190), (4, 350), (8, 560), (16, 700), (32, 610), (64, 400), (128, 220))
"""Throughput that contention takes back beyond 16 groups."""


@dataclass(frozen=True)
class Problem:
    """A server under load and what is wanted of it.

    Attributes:
        server: The server; whoever holds the problem closes it.
        objective: What its windows are evaluated by.
        oracle_value: Greatest J there is, if known.
        workload: Name of the load.
    """

    server: AnyServer
    objective: Objective
    oracle_value: float | None = None
    workload: str = ""


OpenProblem = Callable[[np.random.Generator], Problem]
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
        open_problem: Opens the server of an episode; the environment closes it.
        settings: How long a tuple is measured.
        grid: The tuples to choose from.
        horizon: Decisions of an episode.
        render_mode: None or "ansi".
        server: One's own server instead, as `module:factory`; an example curve if neither is given.

    Raises:
        SettingError: Both a problem and a server are given.

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
        open_problem: OpenProblem | None = None,
        settings: MeasurementSettings | None = None,
        grid: ActionGrid = DEFAULT_GRID,
        horizon: int = 3,
        render_mode: str | None = None,
        server: str | None = None,
    ) -> None:
        super().__init__(grid, horizon, render_mode)
        if open_problem is not None and server is not None:
            raise SettingError("give either open_problem or server, not both")
        own = open_example if server is None else own_problems(server)
        self._open_problem = own if open_problem is None else open_problem
        self._settings = MeasurementSettings() if settings is None else settings
        self._problem: Problem | None = None

    @property
    def workload(self) -> str:
        """Name of the episode's workload; empty where its problem has none."""
        return "" if self._problem is None else self._problem.workload

    @property
    def oracle_value(self) -> float | None:
        """Greatest J there is on that workload; None where its problem does not know it."""
        return None if self._problem is None else self._problem.oracle_value

    def close(self) -> None:
        """Closes the server; a second call does nothing."""
        problem, self._problem = self._problem, None
        self._entries, self._tuples = [], []
        if problem is not None:
            problem.server.close()

    def _begin(self, options: Mapping[str, Any]) -> tuple[PoolTuple, EncodedWindow, NDArray[np.bool_]]:
        self.close()
        self._problem = self._open_problem(self.np_random)
        server = self._problem.server
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
    def _held(self) -> Problem:
        assert self._problem is not None, "step() checks that an episode has begun"
        return self._problem

    def _measured(self, pool_tuple: PoolTuple) -> EncodedWindow:
        server, objective = self._held.server, self._held.objective
        return encode_window(measure(server, pool_tuple, self._settings).window, server.knobs, objective)


def open_example(rng: np.random.Generator) -> Problem:
    """Opens a curve whose best size is 16, with one per cent of noise."""
    server = CurveServer(RISE_AND_FALL, noise=0.01, seed=int(rng.integers(2**31)))
    return Problem(server, Objective(), workload="rise_and_fall")


def own_problems(named: str) -> OpenProblem:
    """Problems on one's own server, opened anew for every episode.

    Args:
        named: `module:factory`, see `poolpilot.env.tuning.factory`.
    """

    def open_problem(_: np.random.Generator) -> Problem:
        server = open_server(named)
        return Problem(server, objective_of(server), workload=named)

    return open_problem
