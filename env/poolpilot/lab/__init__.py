"""A test server: a private MariaDB in a folder, data sets, a slow disk, and named workloads through sysbench."""

from typing import TYPE_CHECKING

from poolpilot.errors.lazy_names import lazy_names

if TYPE_CHECKING:
    from poolpilot.lab.instance import Lab
    from poolpilot.lab.mariadb_pool import MariadbPoolEnv
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "instance": ("Lab",),
            "mariadb_pool": ("MariadbPoolEnv",),
        },
    )

__all__ = [
    "Lab",
    "MariadbPoolEnv",
]
