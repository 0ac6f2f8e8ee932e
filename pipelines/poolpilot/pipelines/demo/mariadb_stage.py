"""The demonstration's workload on MariaDB."""

from poolpilot.env.lab.sysbench_families import FAMILIES, draw_workload
from poolpilot.errors import SettingError
from poolpilot.pipelines.demo.demo_settings import MariadbDemoSettings
from poolpilot.pipelines.evaluate.lab_stage import lab_stage
from poolpilot.pipelines.evaluate.stage import Stage

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
