"""The environment of curves: deterministic, instant, with a known best size."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from poolpilot.env.environments.pool_env import PoolEnv, Problem
from poolpilot.env.ladder import DEFAULT_LADDER, Ladder
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer, Table

RISE_AND_FALL: Table = ((1, 100), (2, 190), (4, 350), (8, 560), (16, 700), (32, 610), (64, 400), (128, 220))
"""Throughput that contention takes back beyond 16 groups."""

RISE_AND_PLATEAU: Table = ((1, 100), (2, 195), (4, 370), (8, 620), (16, 800), (32, 830), (64, 835), (128, 835))
"""Throughput that more groups neither raise nor lower."""


class CurvePoolEnv(PoolEnv):
    """Each episode draws one of the curves.

    Args:
        curves: What `CurveServer` takes as tables, one for each curve.
        objective: What the windows are judged by.
        interpolation: "linear" or "spline".
        noise: Standard deviation of the logarithm of the throughput of a window.
        cpus: Processors the server pretends to have.
        connections: Connections of its closed loop.
        ladder: The tuples to choose from.
        horizon: Decisions of an episode.
        render_mode: None or "ansi".
    """

    def __init__(
        self,
        curves: Sequence[Table | Mapping[tuple[int, int], Table]] = (RISE_AND_FALL, RISE_AND_PLATEAU),
        objective: Objective | None = None,
        interpolation: Literal["linear", "spline"] = "spline",
        noise: float = 0.0,
        cpus: int = 4,
        connections: int = 64,
        ladder: Ladder = DEFAULT_LADDER,
        horizon: int = 3,
        render_mode: str | None = None,
    ) -> None:
        wanted = Objective() if objective is None else objective

        def open_problem(rng: np.random.Generator) -> Problem:
            server = CurveServer(
                curves[int(rng.integers(len(curves)))],
                interpolation=interpolation,
                noise=noise,
                seed=int(rng.integers(2**31)),
                cpus=cpus,
                connections=connections,
            )
            return Problem(server, wanted, best_value(server, wanted, ladder))

        super().__init__(open_problem, ladder=ladder, horizon=horizon, render_mode=render_mode)


def best_value(server: CurveServer, objective: Objective, ladder: Ladder) -> float:
    """Greatest J on the ladder without noise; latency targets do not count."""
    return max(
        float(np.log(server.throughput_per_s(one)) - objective.price_of_thread * np.log(one.pool_size))
        for one in ladder.tuples
        if server.knobs.allows(one)
    )
