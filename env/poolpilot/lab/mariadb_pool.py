"""The environment on a test server: every episode on a freshly started server under sysbench."""

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from poolpilot.env.environments.pool_env import PoolEnv, PoolOptions
from poolpilot.env.measurement.protocol import MARIADB_RACING
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError, TakenLabError
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.lab.sysbench_families import named_workload

FAMILY = "hot_transfer"
"""Family of the workload that is sent unless another is named."""


class MariadbPoolEnv(PoolEnv):
    """Each episode starts the test server under one of the workloads.

    While another environment has an episode on it, or another program uses it, one of its own is made beside it.

    Args:
        workloads: The workloads to draw from; the one that is named if None.
        place: Where the test servers lie.
        family: Name of a workload: a family such as "cached_ranges", or `family-seed-number`; "hot_transfer" if None.
        **options: Further arguments of `PoolEnv`: settings, those of sweeps of MariaDB if not given; grid, horizon,
            render_mode.

    Raises:
        SettingError: There is no workload or none of that name, or both are given.
    """

    def __init__(
        self,
        workloads: Sequence[SqlWorkload] | None = None,
        place: LabPlace | None = None,
        family: str | None = None,
        **options: Unpack[PoolOptions],
    ) -> None:
        if workloads is not None and family is not None:
            raise SettingError("give either workloads or the name of one, not both")
        drawn = [named_workload(family or FAMILY)] if workloads is None else list(workloads)
        if not drawn:
            raise SettingError("the test server needs at least one workload to send")
        where = place or LabPlace()

        def open_target(rng: np.random.Generator) -> Target:
            workload = drawn[int(rng.integers(len(drawn)))]
            return Target(first_free(workload, where), workload.objective, workload.name)

        options["settings"] = options.get("settings") or MARIADB_RACING
        super().__init__(open_target, **options)


def first_free(workload: SqlWorkload, place: LabPlace) -> LabServer:
    """The first of the test servers with a workload's data set that nobody else uses, under that workload.

    Raises:
        ServerError: It does not come up; see `LabServer`.
    """
    number = 1
    while True:
        try:
            return LabServer(workload, place, number=number)
        except TakenLabError:
            number += 1
