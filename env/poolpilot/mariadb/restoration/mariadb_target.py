"""A MariaDB server as what a command tunes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from poolpilot.env.objective import LEAST_ROWS_SHARE, Objective
from poolpilot.env.tuning.target import Target
from poolpilot.mariadb.actuator import Actuator, CallProcedure, SetGlobal
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.restoration.event_lease import EventLease
from poolpilot.mariadb.restoration.mariadb_restoration import MariadbRestoration
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.mariadb.server.watch_settings import LONG_WATCH, WatchSettings

STAGING_LOOK = WatchSettings(disturbances_every_s=0.5)
"""For who sets many tuples, each for a window or two: a backup or a change of a table would be blamed on them."""


def connect(
    dsn: str,
    defaults_file: Path | None,
    procedure: str | None = None,
    cpus: int | None = None,
    watch: WatchSettings = LONG_WATCH,
) -> MariadbServer:
    """Connects to the server of a DSN.

    Args:
        dsn: Where the server is.
        defaults_file: The one option file to read; that of the DSN, else those that `mariadb` reads, if None.
        procedure: Procedure that sets a tuple; `SET GLOBAL` if None.
        cpus: Processors of the server; those of its process, where it runs here, if None.
        watch: How it is looked at; at everything that it shows, which suits few long windows, if not said.

    Raises:
        SettingError: The DSN, the defaults file or the number of processors is wrong.
        ServerError: The server cannot be reached, or cannot be tuned.
    """
    parts = Dsn.parse(dsn)
    if defaults_file is not None:
        parts = replace(parts, defaults_file=defaults_file)
    actuator: Actuator = CallProcedure(procedure) if procedure else SetGlobal()
    return MariadbServer(parts.account(), actuator, watch, cpus=cpus)


@contextmanager
def mariadb_target(
    dsn: str,
    defaults_file: Path | None,
    procedure: str | None,
    cpus: int | None = None,
    lease_s: int | None = None,
    min_rows_share: float = LEAST_ROWS_SHARE,
    watch: WatchSettings = STAGING_LOOK,
) -> Iterator[Target]:
    """Connects for the duration of the block; clients do not report, so times are judged. Arguments as `connect`.

    Args:
        dsn: Where the server is.
        defaults_file: The one option file to read.
        procedure: Procedure that sets a tuple.
        cpus: Processors of the server.
        lease_s: Seconds of a lease inside the database; none if None.
        min_rows_share: Share of the rows that it must go on reading; see `Objective`.
        watch: How it is observed.

    Raises:
        SettingError: The DSN, the defaults file or the number of processors is wrong.
        ServerError: The server cannot be reached, or cannot be tuned.
    """
    with connect(dsn, defaults_file, procedure, cpus, watch) as server:
        where = server.session.where
        lease = None if lease_s is None else EventLease(server, lease_s)
        restoration = MariadbRestoration(server, lease=lease)
        yield Target(
            server,
            Objective(signal="time_in_system", min_rows_share=min_rows_share),
            where,
            restoration,
            {"backend": "mariadb", "server": where, "reached": server.reached.as_dict()},
            "requests/s in system",
            (*server.warnings, *filter(None, [restoration.another_server()]), *restoration.warnings()),
            reached=server.reached,
            own_name=server.identity.name,
        )
