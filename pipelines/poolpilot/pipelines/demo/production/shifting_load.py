"""The load of the demonstration of production: three workloads on one server, of which the first comes back."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from poolpilot.env.servers.processors import split_cpus
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.instance import Lab
from poolpilot.lab.sql_workload import SqlClass, SqlWorkload
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.server.watch_settings import WatchSettings

SELECTS = SqlWorkload("selects", "point_select", (SqlClass("select", "oltp_point_select", 32),))
BESIDE_JOINS = SqlWorkload(
    "beside joins",
    "joins_beside",
    (
        SqlClass("range", "ranges", 60, think_ms=10.0),
        SqlClass("join", "analytic", 4, options={"query": "join", "rows": 80_000, "passes": 1}),
    ),
)
HOT_ROWS = SqlWorkload(
    "hot rows", "hot_rows", (SqlClass("update", "hot_rows", 128, options={"rows": 16, "updates": 2}),)
)

LOADS = (SELECTS, BESIDE_JOINS, HOT_ROWS)
"""Each wants something else of the pool. The first class of each is the one whose 99th percentile is told."""

PHASES = (*LOADS, replace(SELECTS, name="selects again"))
"""One after the other: three shifts, the last of which is to a workload that was here before."""

CANDIDATES = ((4, 3, 10), (16, 3, 10), (1, 3, 500))
"""Constants beside the default among which the best one is chosen: good ones of the suite for MariaDB."""


@dataclass(frozen=True)
class LoadedLab:
    """The private server, and the processors that it and its load may use.

    Attributes:
        lab: The server.
        cpus: Processors of the server; it uses as many as there are, two at most.
    """

    lab: Lab
    cpus: int

    @contextmanager
    def restarted(self, core: tuple[int, int, int] | None = None) -> Iterator[PoolTuple]:
        """A freshly started server, on which nothing carries over; gives the tuple in force.

        Args:
            core: Size, oversubscribe and stall limit to begin with; the server's own if None.

        Raises:
            ServerError: It does not come up, or does not take the tuple.
        """
        own, others = split_cpus(self.cpus)
        with self.lab.restarted(own if others else None):
            with self.tuner_server() as server:
                in_force = server.tuple_in_force()
                if core is not None:
                    in_force = server.apply(in_force.with_core(core))
            yield in_force

    def tuner_server(self) -> MariadbServer:
        """A connection of the tuner's account.

        Raises:
            ServerError: The server cannot be reached.
        """
        return MariadbServer(Dsn(defaults_file=self.lab.defaults_file).account(), watch=WatchSettings())

    def sending(self, workload: SqlWorkload) -> SqlLoad:
        """The load of a workload, on the processors that the server leaves.

        Raises:
            ServerError: sysbench is missing.
        """
        _, others = split_cpus(self.cpus)
        return SqlLoad(workload, self.lab.load_file, self.lab.dataset, others or None)
