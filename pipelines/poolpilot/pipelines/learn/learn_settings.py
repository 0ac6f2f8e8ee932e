"""Settings of `poolpilot learn`."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic_settings import SettingsConfigDict

from poolpilot.env.knobs import MOST_CPUS, checked_cpus
from poolpilot.env.program_settings import ProgramSettings, checked_by
from poolpilot.errors import SettingError
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.pipelines.production.roll_back import RollBackSettings

Drawn = Literal["simulated", "native", "mariadb"]
"""What is started here, under loads that are drawn."""

Staged = Literal["simulated", "native", "mariadb", "own"]
"""What is collected from; `own` is a server of the user's own."""

LONGEST_MINUTES = 7 * 24 * 60.0


class LearnSettings(ProgramSettings):
    """How long is learned, on what, and where it goes."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_LEARN_")

    minutes: float = Field(
        default=30.0,
        ge=0.0,
        le=LONGEST_MINUTES,
        description="Minutes to learn for; 0 only takes in outcomes and judges the model in force.",
    )
    out: Path = Field(default=Path("learned"), description="Folder of what is learned; a stopped run goes on in it.")
    store: Path | None = Field(default=None, description="Folder of the records; `records` in --out if not given.")
    servers: tuple[Drawn, ...] = Field(
        default=(),
        description="What to collect from: simulated, native, mariadb; if none is named, what is there and the minutes "
        "are enough for.",
    )
    cpus: Annotated[int, AfterValidator(checked_by(checked_cpus))] = Field(
        default=os.cpu_count() or 1,
        description=f"Processors of the server that is to be tuned: 1..{MOST_CPUS}; this machine's if not given.",
    )
    dsn: str | None = Field(
        default=None,
        description="A MariaDB of your own in staging, to be swept under the load that its clients send.",
    )
    defaults_file: Path | None = Field(
        default=None,
        description="The option file to read for it, not those of `mariadb`.",
    )
    procedure: str | None = Field(
        default=None,
        description="What sets a configuration there, not SET GLOBAL (`poolpilot grants`).",
    )
    execute: bool = Field(
        default=False,
        description="Set configurations there; without this it is left alone.",
    )
    outcomes: Path | None = Field(
        default=None, description="Folder of outcomes that the service has kept, to take in first."
    )
    promote: bool = Field(default=True, description="Whether what passes the gate is put in force.")
    margin: float = Field(
        default=0.01, ge=0.0, description="Mean regret by which it may be worse than what is in force to pass."
    )
    anew: bool = Field(
        default=False,
        description="Begin a new run where one was stopped; its records stay.",
    )
    workloads: int | None = Field(
        default=None, ge=1, description="Simulated workloads of each quarter of an hour at most; none is no limit."
    )
    seed: int = Field(default=1, ge=0, description="Seed of the workloads.")
    track: bool = Field(default=True, description="Whether runs are logged to MLflow, where it is installed.")
    tracking: Path = Field(default=Path("tracking"), description="Folder of the local MLflow store.")
    roll_back: RollBackSettings = RollBackSettings()

    @property
    def record_folder(self) -> Path:
        """Folder of the records."""
        return self.out / "records" if self.store is None else self.store

    @property
    def named_cpus(self) -> int | None:
        """Processors that somebody has named; None where the number is only that of this machine."""
        return self.cpus if "cpus" in self.model_fields_set else None

    def check(self) -> None:
        """Refuses options of a server of one's own that lead nowhere, before minutes are spent.

        Raises:
            SettingError: They do; the text says which.
        """
        if self.dsn is not None:
            Dsn.parse(self.dsn)
            return
        for flag, given in (("--defaults-file", self.defaults_file), ("--procedure", self.procedure)):
            if given is not None:
                raise SettingError(f"{flag} {given} is of a server of yours: name it with --dsn")
        if self.execute:
            raise SettingError("--execute sets configurations on a server of yours: name it with --dsn")

    def decisive(self) -> dict[str, Any]:
        """What a stopped run must have been started with to go on."""
        names = {"minutes", "servers", "cpus", "workloads", "seed"}
        if self.dsn is not None:  # journals of runs without one do not tell of it
            names |= {"dsn", "execute"}
        return {**self.model_dump(mode="json", include=names), "store": str(self.record_folder.absolute())}
