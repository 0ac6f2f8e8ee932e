"""Any workload of the test server as a stage."""

from poolpilot.env.lab.lab_server import LabPlace, LabServer
from poolpilot.env.lab.sql_workload import SqlWorkload
from poolpilot.env.server import PoolServer
from poolpilot.pipelines.evaluate.stage import Stage


def lab_stage(workload: SqlWorkload, place: LabPlace) -> Stage:
    """A workload of the test server, each time on a freshly started server."""

    def open_server() -> PoolServer:
        return LabServer(workload, place)

    return Stage(workload.name, workload.family, workload.seed, workload.objective, open_server)
