"""A test server under a workload as a pool server: the private MariaDB, its load and its tuner's connection."""

import time
from contextlib import ExitStack
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.servers.processors import split_cpus
from poolpilot.errors import ServerError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.lab.capacity import at_capacity
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.lab.side.side_session import SideSession
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.counters import read_population
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.server.watch_settings import WatchSettings

POLL_S = 0.1
SPARE_CONNECTIONS = 16
"""Connections of a server beside those of its load: the administrator's, the side job's, an observer from outside."""


class LabPlace(BaseModel):
    """Where test servers lie, one for every data set, and how their servers are started and watched."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path = Field(default=Path("lab"), description="Folder of the test servers; made where it is missing.")
    server: LabSettings = Field(
        default=LabSettings(),
        description="What the servers share; data set and disk are those of a workload, and room for its connections.",
    )
    watch: WatchSettings = WatchSettings()
    connect_within_s: float = Field(
        default=30.0, gt=0.0, description="Seconds in which a load must have opened its connections."
    )
    run_up_s: float = Field(default=1.0, ge=0.0, description="Seconds that a load runs before anything is measured.")

    def lab(self, workload: SqlWorkload, number: int = 1) -> Lab:
        """The test server that a workload runs in; of several with its data set, the one of a number from 1 on."""
        slow = workload.slow_disk_us is not None
        most = max(self.server.max_connections, workload.most_connections + SPARE_CONNECTIONS)
        asked = {"dataset": workload.dataset, "slow_disk": slow, "max_connections": most}
        settings = self.server.model_copy(update=asked)
        name = workload.dataset if number == 1 else f"{workload.dataset}-{number}"
        return Lab(self.folder / name, settings, workload.server_options)


class LabServer(MariadbServer):
    """A freshly started server under load; `close` ends both.

    Args:
        workload: What is sent; a share of the capacity that is not known yet is measured first.
        place: Where its test server lies.
        initial: Tuple in force at first; the default one if None.
        number: Which of the test servers with its data set is meant.

    Raises:
        TakenLabError: Another program uses that test server.
        ServerError: A program or disk space is missing, or server, load or side job do not come up.
        SettingError: The initial tuple is outside the ranges, or the workload wants more processors than there are.
    """

    def __init__(
        self, workload: SqlWorkload, place: LabPlace, initial: PoolTuple | None = None, number: int = 1
    ) -> None:
        workload = at_capacity(workload, lambda alone: LabServer(alone, place, number=number))
        self.workload = workload
        self.side: SideSession | None = None
        self.lab = place.lab(workload, number)
        cpus, others = split_cpus(workload.cpus)
        with ExitStack() as opened:
            opened.enter_context(self.lab.restarted(cpus if others else None))
            if workload.slow_disk_us is not None and self.lab.slow_disk is not None:
                self.lab.slow_disk.set(*workload.slow_disk_us)
            account = Dsn(defaults_file=self.lab.defaults_file).account()
            # Opened before the load: a load may leave no thread for a login on the normal port.
            super().__init__(account, watch=place.watch)
            opened.callback(MariadbServer.close, self)
            if initial is not None:
                self.apply(initial)
            load = opened.enter_context(SqlLoad(workload, self.lab.load_file, self.lab.dataset, others or None))
            self.clients = load
            self._await_connections(workload, place)
            if workload.side is not None:
                self.side = SideSession(workload.side, self.lab.root)
                opened.callback(self.side.stop)
            self.run_for(place.run_up_s)
            self._lab_opened = opened.pop_all()

    def close(self) -> None:
        """Ends the load and the server; a second call does nothing."""
        self._lab_opened.close()

    def run_for(self, seconds: float) -> None:
        """Lets load and side job run.

        Raises:
            ServerError: The side job has ended.
        """
        super().run_for(seconds)
        if self.side is not None:
            self.side.check()

    def _await_connections(self, workload: SqlWorkload, place: LabPlace) -> None:
        ends_s = time.monotonic() + place.connect_within_s
        while read_population(self.session).connections < workload.held_connections:
            assert self.clients is not None
            self.clients.histograms()
            if time.monotonic() > ends_s:
                raise ServerError(
                    f"the load of {workload.name} has not opened its {workload.held_connections} connections within "
                    f"{place.connect_within_s:g} s"
                )
            time.sleep(POLL_S)
