"""Settings of `poolpilot demo --production`."""

from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from poolpilot.env.program_settings import ProgramSettings
from poolpilot.serve.commands.options.target_options import option
from poolpilot.serve.commands.tune.tune_settings import LEAST_PAIRS, LEAST_WINDOW_S, MOST_PAIRS, check_in_order
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings


class OfTheTuner(BaseModel):
    """Settings that are handed to a tuner: what it would refuse minutes later is refused here."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tuner: ClassVar[type[BaseModel]]
    """Its own settings, which have fields of the same names."""

    @field_validator("*")
    @classmethod
    def _taken_by_the_tuner(cls, value: Any, info: ValidationInfo) -> Any:
        try:
            cls.tuner(**{str(info.field_name): value})
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"]) from error
        return value


class DemoGuard(OfTheTuner):
    """What of the guard of `poolpilot tune` differs here: a demonstration has seconds where a server has hours."""

    tuner = GuardSettings

    factor: float = Field(default=4.0, description="Most that a trial of the tuner may change a knob.")
    trials_per_hour: int = Field(default=600, description="Trials in an hour at most.")
    cool_down_s: float = Field(default=2.0, description="Seconds without a trial after one was rolled back.")
    retry_after_s: float = Field(default=20.0, description="Seconds before what was rolled back may be tried again.")
    breaker_roll_backs: int = Field(default=60, description="Roll-backs in an hour before it stops for a while.")
    probation_s: float = Field(default=10.0, description="Seconds after a change in which a fall takes it back.")


class DemoPace(OfTheTuner):
    """What of the pace of `poolpilot tune` differs here."""

    tuner = PaceSettings

    observe_for_s: float = Field(default=2.0, description="Seconds of watching before the first trial.")
    baseline_windows: int = Field(default=3, description="Windows before anything is tried.")
    least_pairs: int = Field(default=1, description="Windows of a trial at least.")
    most_pairs: int = Field(default=3, description="Windows of a trial at most.")
    verify_windows: int = Field(default=1, description="Windows in a row in which a good trial must hold on.")
    shift: float = Field(default=0.4, description="Change of ln goodput that is taken for another workload.")
    ask_every_s: float = Field(default=4.0, description="Seconds between two questions to the predictor.")


QUICK = {"arm_s": 4.0, "tuner_s": 12.0, "turns": 1}
"""What `--quick` sets where nobody says otherwise: enough to see that everything works, and no figures to quote."""


class ProductionDemoSettings(ProgramSettings):
    """What the demonstration runs and for how long."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_DEMO_PRODUCTION_")

    output: Path = Field(default=Path("demo-production-out"), description="Folder for the report and the decisions.")
    lab: Path = Field(default=Path("lab/small"), description="Folder of the test server; made where it is missing.")
    quick: bool = option(False, "About a minute: all of it works, but no figure is worth quoting.")
    page: int = Field(default=0, ge=0, le=65_535, description="Port of the live page on loopback; 0 is any free one.")
    arm_s: float = Field(default=12.0, ge=2.0, description="Seconds of each phase under the default and the constant.")
    tuner_s: float = Field(default=28.0, ge=4.0, description="Seconds of each phase under the tuner.")
    turns: int = Field(default=2, ge=1, description="Turns of each constant in each phase, to choose the best one.")
    turn_s: float = Field(default=1.5, gt=0.0, description="Seconds of a turn.")
    window_s: float = Field(
        default=1.0, ge=LEAST_WINDOW_S, description="Seconds of a window, of the tuner and of the table."
    )
    settle_s: float = Field(default=0.3, ge=0.0, description="Seconds dropped after a change.")
    deadline_s: float = Field(default=60.0, gt=0.0, description="Seconds in which a roll-back or give-back must come.")
    guard: DemoGuard = DemoGuard()
    pace: DemoPace = DemoPace()

    @model_validator(mode="after")
    def _shortened(self) -> Self:
        return self.with_defaults(QUICK) if self.quick else self

    @model_validator(mode="after")
    def _in_order_for_the_tuner(self) -> Self:
        check_in_order(self, LEAST_PAIRS, MOST_PAIRS)
        return self
