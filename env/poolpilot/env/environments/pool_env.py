"""An environment on any pool server."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.environments.ladder_env import LadderEnv
from poolpilot.env.ladder import DEFAULT_LADDER, Ladder
from poolpilot.env.measurement.protocol import MeasurementSettings, measure
from poolpilot.env.objective import Objective, regret
from poolpilot.env.observation import EncodedWindow, encode_window
from poolpilot.env.server import AnyServer
from poolpilot.featurizer.pool_tuple import PoolTuple


@dataclass(frozen=True)
class Problem:
    """A server under load and what is wanted of it.

    Attributes:
        server: The server; whoever holds the problem closes it.
        objective: What its windows are judged by.
        oracle_value: Greatest J there is, if known.
    """

    server: AnyServer
    objective: Objective
    oracle_value: float | None = None


OpenProblem = Callable[[np.random.Generator], Problem]
"""Opens a server for the next episode; the generator is the environment's."""


class PoolEnv(LadderEnv):
    """Measures every chosen tuple on a server, which is opened anew for every episode.

    The reward is minus the regret of the window where the oracle is known, else the change of J.

    Args:
        open_problem: Opens the server of an episode; the environment closes it.
        settings: How long a tuple is measured.
        ladder: The tuples to choose from.
        horizon: Decisions of an episode.
        render_mode: None or "ansi".
    """

    def __init__(
        self,
        open_problem: OpenProblem,
        settings: MeasurementSettings | None = None,
        ladder: Ladder = DEFAULT_LADDER,
        horizon: int = 3,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(ladder, horizon, render_mode)
        self._open_problem = open_problem
        self._settings = MeasurementSettings() if settings is None else settings
        self._problem: Problem | None = None

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
            mask = self.ladder.mask(server.knobs)
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
