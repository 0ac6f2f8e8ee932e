"""Settings of `poolpilot learn`."""

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from poolpilot.env.program_settings import ProgramSettings
from poolpilot.pipelines.production.roll_back import RollBackSettings

Staged = Literal["simulated", "native", "mariadb"]
"""What is collected from."""

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
    servers: tuple[Staged, ...] = Field(
        default=(),
        description="What to collect from: simulated, native, mariadb; if none is named, what is there and the minutes "
        "are enough for.",
    )
    cpus: int = Field(
        default=os.cpu_count() or 1,
        ge=1,
        le=1024,
        description="Processors of the server that is to be tuned; this machine's if not given.",
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
        json_schema_extra={"flag": "--anew"},
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

    def decisive(self) -> dict[str, Any]:
        """What a stopped run must have been started with to go on."""
        names = {"minutes", "servers", "cpus", "workloads", "seed"}
        return {**self.model_dump(mode="json", include=names), "store": str(self.record_folder.absolute())}
