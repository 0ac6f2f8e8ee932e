"""Settings that training, the gate and the evaluation share: which records, which methods beside the model."""

from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from poolpilot.env.observation import ENTRIES
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.pipelines.collect.collect_settings import MARIADB_STORE, NATIVE_STORE
from poolpilot.pipelines.evaluate.baselines import BaselineSettings
from poolpilot.pipelines.evaluate.evaluation import EvaluationSettings


class RecordSettings(ProgramSettings):
    """What a program on stored records is told."""

    store: Path = Field(default=NATIVE_STORE, description="Folder of the record store.")
    tracking: Path = Field(default=Path("tracking"), description="Folder of the local MLflow store.")
    decisions: int = Field(default=3, ge=1, le=ENTRIES - 1, description="Configurations that the refiner may set.")
    comparison: EvaluationSettings = EvaluationSettings()
    baselines: BaselineSettings = BaselineSettings()


class KindRecordSettings(RecordSettings):
    """The same where a model of one kind of server is made; for MariaDB other values are the defaults."""

    server: str

    def for_mariadb(self) -> dict[str, Any]:
        """Defaults for MariaDB: its store, and what else a program does otherwise there."""
        return {"store": MARIADB_STORE}

    @model_validator(mode="after")
    def _mariadb_apart(self) -> Self:
        return self.with_defaults(self.for_mariadb() if self.server == "mariadb" else {})
