"""The environment on a laboratory's MariaDB: every episode on a freshly started server under sysbench."""

from collections.abc import Sequence

import numpy as np

from poolpilot.env.environments.pool_env import PoolEnv, Problem
from poolpilot.env.lab.lab_server import LabPlace, LabServer
from poolpilot.env.lab.sql_workload import SqlWorkload
from poolpilot.env.ladder import DEFAULT_LADDER, Ladder
from poolpilot.env.measurement.protocol import MARIADB_RACING, MeasurementSettings
from poolpilot.errors import SettingError


class MariadbPoolEnv(PoolEnv):
    """Each episode starts the laboratory's server under one of the workloads.

    Args:
        workloads: The workloads to draw from.
        place: Where the laboratory lies.
        settings: How long a tuple is measured; as in sweeps of MariaDB if None.
        ladder: The tuples to choose from.
        horizon: Decisions of an episode.
        render_mode: None or "ansi".

    Raises:
        SettingError: There is no workload.
    """

    def __init__(
        self,
        workloads: Sequence[SqlWorkload],
        place: LabPlace | None = None,
        settings: MeasurementSettings | None = None,
        ladder: Ladder = DEFAULT_LADDER,
        horizon: int = 3,
        render_mode: str | None = None,
    ) -> None:
        if not workloads:
            raise SettingError("the laboratory needs at least one workload to send")
        where = place or LabPlace()

        def open_problem(rng: np.random.Generator) -> Problem:
            workload = workloads[int(rng.integers(len(workloads)))]
            return Problem(LabServer(workload, where), workload.objective)

        super().__init__(open_problem, settings or MARIADB_RACING, ladder, horizon, render_mode)
