"""The environment of the embedded live pool: real threads, real time, not deterministic."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.environments.drawn_workloads import given_or_drawn
from poolpilot.env.environments.pool_env import PoolEnv
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.servers.native import NativeServer
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError
from poolpilot.native_pool.workload import Workload


class LivePoolEnv(PoolEnv):
    """Each episode starts a live pool under one of the workloads.

    Args:
        workloads: The workloads to draw from; one of every training family if None.
        settings: How long a tuple is measured.
        grid: The tuples to choose from.
        horizon: Decisions of an episode.
        render_mode: None or "ansi".
        family: Family to draw a workload from instead.
        seed: Seed of that draw.
        **server_options: Further arguments of `NativeServer`.

    Raises:
        SettingError: There is no workload or no such family, or both are given.
    """

    def __init__(
        self,
        workloads: Sequence[Workload] | None = None,
        settings: MeasurementSettings | None = None,
        grid: ActionGrid = DEFAULT_GRID,
        horizon: int = 3,
        render_mode: str | None = None,
        family: str | None = None,
        seed: int = 1,
        **server_options: Any,
    ) -> None:
        drawn = given_or_drawn(workloads, family, seed, lambda workload: workload)
        if not drawn:
            raise SettingError("the live pool needs at least one workload to serve")

        def open_target(rng: np.random.Generator) -> Target:
            workload = drawn[int(rng.integers(len(drawn)))]
            server = NativeServer(workload, **server_options)
            return Target(server, Objective.of_classes(workload.classes), workload.name)

        super().__init__(open_target, settings, grid, horizon, render_mode)
