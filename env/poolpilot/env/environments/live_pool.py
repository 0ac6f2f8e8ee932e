"""The environment of the embedded live pool: real threads, real time, not deterministic."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from poolpilot.env.environments.pool_env import PoolEnv, Problem
from poolpilot.env.ladder import DEFAULT_LADDER, Ladder
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.env.servers.native import NativeServer
from poolpilot.errors import SettingError
from poolpilot.native_pool.workload import Workload


class LivePoolEnv(PoolEnv):
    """Each episode starts a live pool under one of the workloads.

    Args:
        workloads: The workloads to draw from.
        settings: How long a tuple is measured.
        ladder: The tuples to choose from.
        horizon: Decisions of an episode.
        render_mode: None or "ansi".
        server_options: Further arguments of `NativeServer`.

    Raises:
        SettingError: There is no workload.
    """

    def __init__(
        self,
        workloads: Sequence[Workload],
        settings: MeasurementSettings | None = None,
        ladder: Ladder = DEFAULT_LADDER,
        horizon: int = 3,
        render_mode: str | None = None,
        **server_options: Any,
    ) -> None:
        if not workloads:
            raise SettingError("the live pool needs at least one workload to serve")

        def open_problem(rng: np.random.Generator) -> Problem:
            workload = workloads[int(rng.integers(len(workloads)))]
            return Problem(NativeServer(workload, **server_options), Objective.of_classes(workload.classes))

        super().__init__(open_problem, settings, ladder, horizon, render_mode)
