"""The environment of curves: deterministic, in virtual time, with a known best size."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, Unpack

import numpy as np

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.environments.pool_env import RISE_AND_FALL, PoolEnv, PoolOptions
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer, Table
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError

RISE_AND_PLATEAU: Table = ((1, 100), (2, 195), (4, 370), (8, 620), (16, 800), (32, 830), (64, 835), (128, 835))
"""Throughput that more groups neither raise nor lower."""


class CurvePoolEnv(PoolEnv):
    """Each episode draws one of the curves.

    Args:
        curves: What `CurveServer` takes as tables, one for each curve.
        objective: What the windows are evaluated by.
        interpolation: "linear" or "spline".
        noise: Standard deviation of the logarithm of the throughput of a window.
        cpus: Processors the server pretends to have.
        connections: Connections of its closed loop.
        **options: Further arguments of `PoolEnv`: settings, grid, horizon, render_mode.

    Raises:
        SettingError: There is no curve, or one of them or an option is not one that `CurveServer` takes.

    Examples:
        >>> import gymnasium
        >>> env = gymnasium.make("poolpilot.env.environments:poolpilot/CurvePool-v0")
        >>> observation, info = env.reset(seed=0)
        >>> info["workload"], info["pool_tuple"]["pool_size"], round(info["regret"], 2)
        ('curve 1', 4, 0.53)
        >>> observation, reward, terminated, truncated, info = env.step(14)
        >>> info["pool_tuple"]["pool_size"], round(reward, 2) == -round(info["regret"], 2)
        (8, True)
    """

    def __init__(
        self,
        curves: Sequence[Table | Mapping[tuple[int, int], Table]] = (RISE_AND_FALL, RISE_AND_PLATEAU),
        objective: Objective | None = None,
        interpolation: Literal["linear", "spline"] = "spline",
        noise: float = 0.0,
        cpus: int = 4,
        connections: int = 64,
        **options: Unpack[PoolOptions],
    ) -> None:
        grid = options.get("grid", DEFAULT_GRID)
        wanted = Objective() if objective is None else objective

        opened = [
            partial(CurveServer, curve, interpolation=interpolation, noise=noise, cpus=cpus, connections=connections)
            for curve in curves
        ]
        if not opened:
            raise SettingError("the pool of curves needs at least one curve to draw from")
        for open_curve in opened:
            open_curve()  # whatever is refused is refused here, not by a later reset

        def open_target(rng: np.random.Generator) -> Target:
            drawn = int(rng.integers(len(opened)))
            server = opened[drawn](seed=int(rng.integers(2**31)))
            return Target(server, wanted, f"curve {drawn}", oracle_value=best_value(server, wanted, grid))

        super().__init__(open_target, **options)


def best_value(server: CurveServer, objective: Objective, grid: ActionGrid) -> float:
    """Greatest J on the grid without noise; latency targets do not count."""
    return max(
        float(np.log(server.throughput_per_s(pool_tuple)) - objective.price_of_thread * np.log(pool_tuple.pool_size))
        for pool_tuple in grid.tuples
        if server.knobs.allows(pool_tuple)
    )
