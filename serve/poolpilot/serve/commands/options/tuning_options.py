"""What `climb` and `search` tune: a MariaDB server, one's own, or one that is started here; and what becomes of it."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from pydantic import Field

from poolpilot.env.program_settings import ProgramSettings
from poolpilot.env.tuning.backends import Backend, BackendChoice, check_one_server
from poolpilot.env.tuning.mariadb_target import mariadb_target
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError
from poolpilot.featurizer.snapshot import ServerKind, server_kind_of
from poolpilot.serve.commands.options.mariadb_options import Cpus

PERIOD_S = 0.25
"""Seconds of a window on an embedded pool."""

MARIADB_PERIOD_S = 0.5
"""Seconds of a window on MariaDB, which answers a change within half a second."""


def option(default: Any, description: str, *, low: float | None = None, **shown: Any) -> Any:
    """A field of a command; `shown` says how its flag looks in the help, see `as_command`."""
    return Field(default=default, description=description, ge=low, json_schema_extra=shown)


class TuningOptions(ProgramSettings):
    """What a command tunes, and whether what it reaches stays."""

    dsn: str | None = option(None, "MariaDB in staging, such as S=/run/mysqld/mysqld.sock.")
    execute: bool = option(False, "Do it; else a MariaDB server is left alone.", flag="--execute")
    defaults_file: Path | None = option(None, "Where \\[client] is read, instead of ~/.my.cnf.", metavar="FILE")
    procedure: str | None = option(None, "What sets a configuration, not SET GLOBAL.", metavar="NAME")
    cpus: Cpus = None
    backend: Backend | None = option(None, "native (the default), simulated or curve.", metavar="NAME")
    server: str | None = option(None, "One's own server, as module:factory.", metavar="NAME")
    family: str = option("page_faults", "Family of workloads.", metavar="NAME")
    seed: int = option(1, "Seed of that draw.", low=0, metavar="N")
    workload: Path | None = option(None, "A workload in JSON, instead.", metavar="FILE")
    curve: Path | None = option(None, "A curve in JSON: a list of \\[pool size, throughput].", hidden=True)
    noise: float = Field(
        default=0.0,
        ge=0.0,
        le=1.0,
        description="Noise of a window on a curve, as a share.",
        json_schema_extra={"hidden": True},
    )
    period: float | None = option(None, "Seconds of a window: 0.25, MariaDB 0.5.", low=0.01, metavar="X")
    keep: bool = option(False, "Leave what was reached, after Ctrl-C too.", flag="--keep")

    @property
    def default_period_s(self) -> float:
        """Seconds of a window where nobody says otherwise."""
        return PERIOD_S if self.dsn is None else MARIADB_PERIOD_S

    @property
    def choice(self) -> BackendChoice:
        """What is tuned where there is no DSN."""
        backend = self.backend or Backend.NATIVE
        return BackendChoice(backend, self.family, self.seed, self.workload, self.curve, self.noise, self.server)

    @property
    def server_kind(self) -> ServerKind:
        """What the server's windows will say of it, known before it is opened."""
        if self.dsn is not None:
            return "mariadb"
        return "other" if self.server is not None else server_kind_of(self.choice.backend)

    def check(self) -> None:
        """Refuses settings that contradict one another.

        Raises:
            SettingError: They do; the text says which.
        """
        check_one_server(self.dsn, self.backend, self.server)
        if self.cpus is not None and self.dsn is None:
            raise SettingError(f"--cpus {self.cpus} is of a MariaDB server: name one by its DSN, or leave it out")

    def opened(self) -> AbstractContextManager[Target]:
        """The server, for the duration of a block.

        Raises:
            SettingError: An option is wrong.
            ServerError: The server cannot be started or reached.
        """
        if self.dsn is not None:
            return mariadb_target(self.dsn, self.defaults_file, self.procedure, self.cpus)
        return self.choice.opened()


TUNING_PANELS = {
    "MariaDB": ("execute", "defaults_file", "procedure", "cpus"),
    "Without a DSN": ("backend", "server", "family", "seed", "workload"),
}
"""The groups of the help that these options stand in."""
