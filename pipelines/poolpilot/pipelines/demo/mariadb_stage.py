"""The demonstration's workload on MariaDB, and any workload of the laboratory as a stage."""

from poolpilot.env.lab.families import FAMILIES, draw_workload
from poolpilot.env.lab.server import LabPlace, LabServer
from poolpilot.env.lab.workload import SqlWorkload
from poolpilot.env.server import PoolServer
from poolpilot.featurizer.errors import SettingError
from poolpilot.pipelines.demo.settings import MariadbDemoSettings
from poolpilot.pipelines.demo.stage import Stage

SEED_OFFSET = 1_000_000
"""Keeps the seeds of the demonstration apart from those of the sealed test workloads."""


def demo_stages(settings: MariadbDemoSettings) -> list[Stage]:
    """The one workload of the demonstration, drawn by its seed.

    Raises:
        SettingError: There is no such family.
    """
    if settings.family not in FAMILIES:
        raise SettingError(f"there is no family {settings.family!r}; there are {', '.join(FAMILIES)}")
    workload = draw_workload(FAMILIES[settings.family], SEED_OFFSET + settings.seed, settings.seed)
    return [lab_stage(workload, settings.place)]


def lab_stage(workload: SqlWorkload, place: LabPlace) -> Stage:
    """A workload of the laboratory, each time on a freshly started server."""

    def open_server() -> PoolServer:
        return LabServer(workload, place)

    return Stage(workload.name, workload.family, workload.seed, workload.objective, open_server)
