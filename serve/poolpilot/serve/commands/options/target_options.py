"""What is tuned: a MariaDB server, one's own, or one that is started here."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from pydantic import Field

from poolpilot.env.objective import LEAST_ROWS_SHARE
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.env.tuning.backends import Backend, BackendChoice, check_one_server
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError
from poolpilot.featurizer.snapshot import ServerKind, server_kind_of
from poolpilot.mariadb.restoration.mariadb_target import STAGING_LOOK, mariadb_target
from poolpilot.mariadb.server.watch_settings import WatchSettings
from poolpilot.serve.commands.options.mariadb_options import Cpus, MinRowsShare, ProcedureName


def option(default: Any, description: str, *, low: float | None = None, high: float | None = None) -> Any:
    """A field of a command."""
    return Field(default=default, description=description, ge=low, le=high)


class TargetOptions(ProgramSettings):
    """Which server a command tunes."""

    dsn: str | None = option(None, "A MariaDB server, such as S=/run/mysqld/mysqld.sock.")
    defaults_file: Path | None = option(None, "The option file to read, not those of `mariadb`.")
    procedure: ProcedureName | None = option(None, "What sets a configuration, not SET GLOBAL.")
    cpus: Cpus = None
    min_rows_share: MinRowsShare = LEAST_ROWS_SHARE
    backend: Backend | None = option(None, "native (the default), simulated or curve.")
    server: str | None = option(None, "One's own server, as module:factory.")
    family: str = option("page_faults", "Family of workloads.")
    seed: int = option(1, "Seed of that draw.", low=0)
    workload: Path | None = option(None, "A workload in JSON, instead.")
    curve: Path | None = option(None, "A curve in JSON: a list of \\[pool size, throughput].")
    noise: float = Field(
        default=0.0,
        ge=0.0,
        le=1.0,
        description="Noise of a window on a curve, as a share.",
    )

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
        return self._opened(None, STAGING_LOOK)

    def _opened(self, lease_s: int | None, watch: WatchSettings) -> AbstractContextManager[Target]:
        if self.dsn is None:
            return self.choice.opened()
        return mariadb_target(
            self.dsn, self.defaults_file, self.procedure, self.cpus, lease_s, self.min_rows_share, watch
        )
