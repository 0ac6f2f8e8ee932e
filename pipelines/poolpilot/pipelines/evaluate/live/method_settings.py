"""Settings of the methods of a live evaluation."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from poolpilot.agent.baselines.nearest_ratios import NearestRatiosSettings
from poolpilot.agent.baselines.trees import TreesSettings
from poolpilot.agent.controllers.trial_rule import MOST_DECISIONS
from poolpilot.agent.controllers.warm_start import MARIADB_CLIMB, MARIADB_WARM_START, WarmStartSettings
from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.measurement.protocol import MeasurementSettings


class MariadbPace(BaseModel):
    """How methods measure on MariaDB, which settles and counts more slowly than a pool of ours: as `climb` does."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    measurement: MeasurementSettings = Field(
        default=MARIADB_WARM_START.measurement, description="What a trial drops, and how long it lasts."
    )
    period_s: float = Field(default=MARIADB_CLIMB.period_s, gt=0.0, description="Seconds of a window of a climb.")
    budget_s: float = Field(default=30.0, gt=0.0, description="Seconds that every method has on a server of its own.")


class MethodSettings(BaseModel):
    """Which methods there are, how they measure, and how often those that try may do so."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    names: tuple[str, ...] = Field(default=(), description="Methods that run, such as portfolio_3; none is all.")
    trials: tuple[int, ...] = Field(default=(1, 2, 3), min_length=1, description="Trials of the methods that try.")
    stores: tuple[Path, ...] = Field(
        default=(),
        description="Record stores whose training workloads nearest and trees learn from beside the curves.",
    )
    models: tuple[str, ...] = Field(
        default=(), description="Further networks as NAME=FOLDER of an artefact; each is tried as refiner is."
    )
    measurement: MeasurementSettings = Field(
        default=MeasurementSettings(settle_s=0.2, window_s=0.5),
        description="What a trial drops, and how long it lasts.",
    )
    advice_s: float = Field(
        default=5.0, gt=0.0, description="Seconds that advise observes, in whole cycles of a load that repeats itself."
    )
    nearest: NearestRatiosSettings = NearestRatiosSettings()
    trees: TreesSettings = TreesSettings()
    search: BayesianSettings = BayesianSettings(random_rounds=4)
    warm_start: WarmStartSettings = WarmStartSettings()
    climb: ClimbSettings = ClimbSettings()

    def on_mariadb(self, pace: MariadbPace) -> Self:
        """The same methods at the pace of MariaDB."""
        updates = {
            "measurement": pace.measurement,
            "warm_start": self.warm_start.model_copy(update={"measurement": pace.measurement}),
            "climb": self.climb.model_copy(update={"period_s": pace.period_s}),
        }
        return self.model_copy(update=updates)

    @model_validator(mode="after")
    def _can_be_tried(self) -> Self:
        if not 1 <= min(self.trials) <= max(self.trials) <= MOST_DECISIONS:
            raise ValueError(f"trials are {self.trials}, but each must be in 1..{MOST_DECISIONS}")
        wrong = [model for model in self.models if not all(model.partition("="))]
        if wrong:
            raise ValueError(f"models has {wrong[0]!r}, but each must be NAME=FOLDER, the folder that of an artefact")
        return self

    @property
    def model_folders(self) -> dict[str, Path]:
        """Folders of the further networks, by name."""
        return {name: Path(folder) for name, _, folder in (model.partition("=") for model in self.models)}
