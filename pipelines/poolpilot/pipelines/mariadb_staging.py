"""Staging on MariaDB: the laboratory's workloads, each on a freshly started private server under sysbench."""

from poolpilot.env.families import PlannedWorkload, Split
from poolpilot.env.lab.families import workload_set
from poolpilot.env.lab.server import LabPlace, LabServer
from poolpilot.env.lab.workload import SqlWorkload
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.pipelines.collect import Staging
from poolpilot.pipelines.collect_settings import CollectSettings

MEASURED = ("window_s", "settle_s", "max_settle_s", "final_repeats")
"""Racing settings that MariaDB has defaults of its own for: it is noisier and settles more slowly."""


def mariadb_staging(settings: CollectSettings) -> tuple[list[PlannedWorkload[SqlWorkload]], Staging[SqlWorkload]]:
    """The workloads of a collection on MariaDB, and what measures them."""
    mariadb = settings.mariadb
    of_each: dict[Split, int] = {
        "train": mariadb.train_each,
        "validation": mariadb.validation_each,
        "test": mariadb.test_each,
    }
    planned = [one for one in workload_set(settings.seed, of_each) if one.split in settings.splits]
    place = LabPlace(folder=mariadb.folder)

    def open_server(workload: SqlWorkload) -> PoolServer:
        return LabServer(workload, place)

    return planned, Staging(open_server, settings_for=racing_for, objective_of=objective_of)


def racing_for(workload: SqlWorkload, settings: CollectSettings) -> CollectSettings:
    """The settings with MariaDB's windows, and windows of whole bursts where the load comes in bursts."""
    racing = settings.racing
    updates = {name: getattr(settings.mariadb, name) for name in MEASURED if name not in racing.model_fields_set}
    longest_s = max(one.burst_period_s for one in workload.classes)
    if longest_s > 0.0:
        window_s = updates.get("window_s", racing.window_s)
        updates["window_s"] = longest_s * max(round(window_s / longest_s), 1)
    return settings.model_copy(update={"racing": racing.model_copy(update=updates)})


def objective_of(workload: SqlWorkload) -> Objective:
    """What counts under a workload."""
    return workload.objective
