"""What a search runs on, which knobs it varies, how it chooses, and when it ends."""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.agent.search.observations import Goal
from poolpilot.errors import SettingError
from poolpilot.serve.commands.options.tuning_options import TuningOptions


class SearchRunSettings(TuningOptions, BayesianSettings):
    """Settings of `poolpilot climb --search`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_SEARCH_")

    method: Literal["bayesian", "random"] = Field(
        default="bayesian",
        description="bayesian: a Gaussian process says which configuration may be best. random: every one is "
        "drawn blindly.",
    )
    knob: tuple[str, ...] = Field(
        default=("pool_size", "oversubscribe=1..16", "timer_interval_ms=10..1000"),
        min_length=1,
        description="Knob to vary, once for each: NAME for its whole range, NAME=LOW..HIGH for a part of it, "
        "NAME=1,2,4 for values to choose from.",
    )
    target: Goal = Field(
        default="objective",
        description="What is best: objective (requests in time, less a small price of a larger pool), throughput, or "
        "latency (the lowest mean).",
    )
    stored: Path | None = Field(
        default=None,
        description="Folder of a record store (`learn collect`): the process also learns from the workload there that "
        "looks most alike (OtterTune's mapping), and knobs are ranked by all of them.",
    )
    top: int | None = Field(
        default=None, ge=1, description="Vary only so many knobs, those that matter most to the workloads of `stored`."
    )
    rounds: int = Field(default=30, ge=1, description="Configurations tried.")
    until_stable: bool = Field(default=False, description="Instead of a number of rounds, until they find no better.")
    stable_rounds: int = Field(
        default=20, ge=1, description="With `until_stable`: the search ends after so many rounds without improvement."
    )
    samples_per_round: int = Field(default=2, ge=1, description="Windows by which a configuration is evaluated.")
    settle_windows: int = Field(default=1, ge=0, description="Windows after a change that are not counted.")
    seed: int = Field(
        default=1, ge=0, description="Seed of what is drawn at random, of the workload of a family, of a curve's noise."
    )

    @property
    def period_s(self) -> float:
        """Length of a window in seconds."""
        return self.period or self.default_period_s

    @property
    def search(self) -> BayesianSettings:
        """What the search itself decides by."""
        values = {name: getattr(self, name) for name in BayesianSettings.model_fields}
        return BayesianSettings.model_validate(values | ({"rounds": None} if self.until_stable else {}))

    def check(self) -> None:
        """Refuses settings that contradict one another.

        Raises:
            SettingError: They do; the text says which.
        """
        super().check()
        if self.until_stable and "rounds" in self.model_fields_set:
            raise SettingError("a search ends after --rounds or goes on until_stable: leave out one of them")
        if self.top is not None and self.stored is None:
            raise SettingError("the setting top uses stored workloads: name their store with --set stored=FOLDER")
