"""Talking to a MariaDB server: where it is, what it counts, which knobs it has, how they are set and put back."""

from typing import TYPE_CHECKING

from poolpilot.errors.lazy_names import lazy_names

if TYPE_CHECKING:
    from poolpilot.mariadb.login.dsn import Dsn
    from poolpilot.mariadb.restoration.mariadb_target import mariadb_target
    from poolpilot.mariadb.server.mariadb_server import MariadbServer
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "login.dsn": ("Dsn",),
            "restoration.mariadb_target": ("mariadb_target",),
            "server.mariadb_server": ("MariadbServer",),
        },
    )

__all__ = [
    "Dsn",
    "MariadbServer",
    "mariadb_target",
]
