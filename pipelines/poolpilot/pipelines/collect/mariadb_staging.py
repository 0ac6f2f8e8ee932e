"""Staging on MariaDB: the test server's workloads, each on a freshly started private server under sysbench."""

import subprocess

from poolpilot.env.lab.host.programs import program
from poolpilot.env.lab.lab_server import LabPlace, LabServer
from poolpilot.env.lab.sql_workload import SqlWorkload
from poolpilot.env.lab.sysbench_families import workload_set
from poolpilot.env.measurement.protocol import MARIADB_RACING
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.workloads.families import PlannedWorkload, Split
from poolpilot.pipelines.collect.collect import Staging
from poolpilot.pipelines.collect.collect_settings import CollectSettings


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
    """The settings with MariaDB's windows where none are named; windows of whole bursts where the load has bursts."""
    racing = settings.racing
    ours = MARIADB_RACING.model_fields_set - racing.model_fields_set
    updates = {name: getattr(MARIADB_RACING, name) for name in ours}
    longest_s = max(one.burst_period_s for one in workload.classes)
    if longest_s > 0.0:
        window_s = updates.get("window_s", racing.window_s)
        updates["window_s"] = longest_s * max(round(window_s / longest_s), 1)
    return settings.model_copy(update={"racing": racing.model_copy(update=updates)})


def versions() -> dict[str, str]:
    """Versions of the programs that a test server runs."""
    found = {}
    for name in ("mariadbd", "sysbench"):
        said = subprocess.run([program(name), "--version"], capture_output=True, text=True, check=True).stdout
        found[name] = " ".join(said.split()[1:6])
    return found


def objective_of(workload: SqlWorkload) -> Objective:
    """What counts under a workload."""
    return workload.objective
