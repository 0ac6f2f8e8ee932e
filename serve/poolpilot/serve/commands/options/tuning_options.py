"""What `climb` and `search` tune, whether they may, and what becomes of it."""

from pathlib import Path

from poolpilot.serve.commands.options.target_options import TargetOptions, option

PERIOD_S = 0.25
"""Seconds of a window on an embedded pool."""

MARIADB_PERIOD_S = 0.5
"""Seconds of a window on MariaDB, which answers a change within half a second."""


class TuningOptions(TargetOptions):
    """What a command tunes in staging, and whether what it reaches stays."""

    dsn: str | None = option(None, "MariaDB in staging, such as S=/run/mysqld/mysqld.sock.")
    execute: bool = option(False, "Do it; else a MariaDB server is left alone.")
    period: float | None = option(None, "Seconds of a window: 0.25, MariaDB 0.5.", low=0.01)
    keep: bool = option(False, "Leave what was reached, after Ctrl-C too.")
    tracking: Path | None = option(None, "Folder of an MLflow store to log to.")

    @property
    def default_period_s(self) -> float:
        """Seconds of a window where nobody says otherwise."""
        return PERIOD_S if self.dsn is None else MARIADB_PERIOD_S
