"""What a search runs on, which knobs it varies, how it chooses, and when it ends."""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from poolpilot.agent.search.bayesian_settings import BayesianSettings
from poolpilot.agent.search.observations import Goal
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.env.tuning.backends import Backend, check_one_server
from poolpilot.errors import SettingError

PERIOD_S = 0.25
"""Seconds of a window on an embedded pool."""

MARIADB_PERIOD_S = 0.5
"""Seconds of a window on MariaDB, which answers a change within half a second."""


class SearchRunSettings(ProgramSettings, BayesianSettings):
    """Settings of `poolpilot search`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_SEARCH_")

    dsn: str | None = Field(
        default=None,
        description="A MariaDB server in staging: S=/run/mysqld/mysqld.sock, h=db1,P=3306,u=poolpilot, or a host name.",
    )
    defaults_file: Path | None = Field(default=None, description="File to read \\[client] from, instead of ~/.my.cnf.")
    procedure: str | None = Field(
        default=None, description="Set by calling this procedure (`poolpilot mariadb grants`) instead of SET GLOBAL."
    )
    execute: bool = Field(default=False, description="Do it; without this a MariaDB server is left alone.")
    backend: Backend | None = Field(
        default=None,
        description="native: the pool in this process under its own load, the default. simulated: the same in virtual "
        "time. curve: a table of throughputs.",
    )
    server: str | None = Field(
        default=None,
        description="One's own server, as module:factory, a function without arguments that opens a PoolServer.",
    )
    family: str = Field(default="page_faults", description="Family to draw the workload from.")
    workload: Path | None = Field(default=None, description="JSON file of a workload, instead of a family.")
    curve: Path | None = Field(
        default=None, description="JSON list of \\[pool size, throughput] for --backend curve, instead of an example."
    )
    noise: float = Field(default=0.0, ge=0.0, le=1.0, description="Noise of a window on a curve, as a share.")
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
        description="Folder of a record store (`poolpilot collect`): the process also learns from the workload there "
        "that looks most alike (OtterTune's mapping), and knobs are ranked by all of them.",
    )
    top: int | None = Field(
        default=None, ge=1, description="Vary only so many knobs, those that matter most to the workloads of --stored."
    )
    rounds: int = Field(default=30, ge=1, description="Configurations tried.")
    until_stable: bool = Field(default=False, description="Instead of a number of rounds, until they find no better.")
    stable_rounds: int = Field(
        default=20, ge=1, description="With --until-stable: the search ends after so many rounds without improvement."
    )
    samples_per_round: int = Field(default=2, ge=1, description="Windows by which a configuration is evaluated.")
    settle_windows: int = Field(default=1, ge=0, description="Windows after a change that are not counted.")
    period: float | None = Field(
        default=None, ge=0.01, description="Seconds of a window; 0.25 if not given, 0.5 on MariaDB."
    )
    seed: int = Field(
        default=1, ge=0, description="Seed of what is drawn at random, of the workload of a family, of a curve's noise."
    )
    keep: bool = Field(
        default=False, description="Leave the best one in force, after Ctrl-C the latest; else the first one returns."
    )

    @property
    def period_s(self) -> float:
        """Length of a window in seconds."""
        return self.period or (PERIOD_S if self.dsn is None else MARIADB_PERIOD_S)

    @property
    def search(self) -> BayesianSettings:
        """What the search itself goes by."""
        values = {name: getattr(self, name) for name in BayesianSettings.model_fields}
        return BayesianSettings.model_validate(values | ({"rounds": None} if self.until_stable else {}))

    def check(self) -> None:
        """Refuses settings that contradict one another.

        Raises:
            SettingError: They do; the text says which.
        """
        check_one_server(self.dsn, self.backend, self.server)
        if self.until_stable and "rounds" in self.model_fields_set:
            raise SettingError("a search ends after --rounds or goes on --until-stable: leave out one of them")
        if self.top is not None and self.stored is None:
            raise SettingError("--top goes by stored workloads: name their store with --stored")


PANELS = {
    "MariaDB": ("defaults_file", "procedure", "execute"),
    "Without a DSN": ("backend", "server", "family", "workload", "curve", "noise"),
    "The search": ("method", "knob", "target", "stored", "top", "seed"),
    "Rounds": (
        *("rounds", "until_stable", "stable_rounds", "stable_share"),
        *("samples_per_round", "settle_windows", "period"),
    ),
    "The Gaussian process": ("random_rounds", "deviations", "candidates", "threads"),
    "At the end": ("keep",),
}
"""The groups of the help."""
