"""The workloads of the demonstration, each with the server it runs on.

On the embedded pool one is heavy on the processor, one waits without telling the pool, one contends for latches; on
MariaDB there is one.
"""

from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.env.workloads.family import Family
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab import sysbench_families
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.collect.servers import open_native
from poolpilot.pipelines.demo.demo_settings import MariadbDemoSettings
from poolpilot.pipelines.evaluate.lab_stage import lab_stage
from poolpilot.pipelines.evaluate.stage import Stage

SHOWN = ("reports", "page_faults", "hot_counter")
"""A held-out family heavy on the processor, one that waits silently, one that contends for latches. They were sealed
until the published demonstrations were run; the sealed ones of today are not to be looked at."""

SEED_OFFSET = 1_000_000
"""Keeps the seeds of the demonstration apart from those of the sealed test workloads."""


def demo_families() -> list[Family]:
    """The families of the demonstration."""
    return [FAMILIES[name] for name in SHOWN]


def demo_workloads(seed: int) -> list[Workload]:
    """Draws the workloads; the same seed gives the same ones."""
    return [draw_workload(family, SEED_OFFSET + seed, seed + place) for place, family in enumerate(demo_families())]


def native_stage(workload: Workload, idle_timeout_s: float) -> Stage:
    """The embedded pool under a workload; surplus threads live for `idle_timeout_s`."""
    default = PoolTuple(workload.cpus, 3, 500, idle_timeout_s=idle_timeout_s)

    def open_server() -> PoolServer:
        return open_native(workload, default)

    objective = Objective.of_classes(workload.classes)
    return Stage(workload.name, workload.family, workload.seed, objective, open_server)


def mariadb_stages(settings: MariadbDemoSettings) -> list[Stage]:
    """The one workload of the demonstration on MariaDB, drawn by its seed.

    Raises:
        SettingError: There is no such family.
    """
    families = sysbench_families.FAMILIES
    if settings.family not in families:
        raise SettingError(f"there is no family {settings.family!r}; there are {', '.join(families)}")
    workload = sysbench_families.draw_workload(families[settings.family], SEED_OFFSET + settings.seed, settings.seed)
    return [lab_stage(workload, settings.place)]
