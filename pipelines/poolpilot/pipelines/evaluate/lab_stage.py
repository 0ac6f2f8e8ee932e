"""Any workload of the test server as a stage."""

from functools import cache

from poolpilot.env.server import PoolServer
from poolpilot.lab.capacity import at_capacity
from poolpilot.lab.lab_server import LabPlace, LabServer
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.pipelines.evaluate.stage import Stage


def lab_stage(workload: SqlWorkload, place: LabPlace) -> Stage:
    """A workload of the test server, each time on a freshly started server.

    Where a class offers a share of its capacity, that is measured before the first server opens, and holds for all.
    """

    @cache
    def measured() -> SqlWorkload:
        return at_capacity(workload, lambda alone: LabServer(alone, place))

    def open_server() -> PoolServer:
        return LabServer(measured(), place)

    return Stage(
        workload.name,
        workload.family,
        workload.seed,
        workload.objective,
        open_server,
        classes=tuple(one.name for one in workload.classes),
        cycle_s=workload.cycle_s,
        on_mariadb=True,
    )
