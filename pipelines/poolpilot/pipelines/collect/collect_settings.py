"""What a collection measures and where it keeps it."""

import os
import platform
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from poolpilot.env.action_grid import DEFAULT_GRID, LARGE_GRID, ActionGrid
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.env.workloads.families import FAMILIES, PlannedWorkload, W, workload_set
from poolpilot.env.workloads.family import Split
from poolpilot.errors import SettingError

NATIVE_STORE = Path("pipelines/native")
"""Store of the embedded pool's records."""

SIMULATED_STORE = Path("pipelines/simulated")
"""Store of what is simulated, unless another is named."""

MARIADB_STORE = Path("pipelines/mariadb")
"""Store of what is measured on the test server, unless another is named."""

GRIDS: Mapping[str, ActionGrid] = {"default": DEFAULT_GRID, "large": LARGE_GRID}


class SimulatedSettings(BaseModel):
    """What is collected from simulated pools."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workloads: int = Field(default=2200, ge=1, description="Simulated workloads, dealt evenly to the families.")
    composed: int = Field(
        default=0, ge=0, description="Workloads of sim_composed at least, where fewer are dealt to that family."
    )
    validation: int = Field(
        default=0,
        ge=0,
        description="Workloads of compositions that nothing learns from, to choose a model for any machine by.",
    )
    window_requests: int = Field(default=2000, ge=1, description="Requests of a window; two a connection at least.")
    window_s: float = Field(default=20.0, gt=0.0, description="Virtual seconds of a window at most.")
    workers: int = Field(
        default=os.cpu_count() or 1, ge=1, description="Workloads simulated at once, each on a thread of its own."
    )


class MariadbSettings(BaseModel):
    """What is collected from the test server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path = Field(default=Path("lab"), description="Folder of the test server; made where it is missing.")
    train_each: int = Field(default=2, ge=0, description="Workloads of every training family.")
    validation_each: int = Field(default=2, ge=0, description="Workloads of every validation family.")
    test_each: int = Field(default=2, ge=0, description="Workloads of every sealed test family.")


class CollectSettings(ProgramSettings):
    """Settings of `poolpilot learn collect`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_COLLECT_")

    store: Path = Field(default=NATIVE_STORE, description="Folder of the record store; a second run continues it.")
    train_workloads: int = Field(default=180, ge=0, description="Workloads of the training families.")
    validation_workloads: int = Field(default=35, ge=0, description="Workloads of the validation families.")
    test_workloads: int = Field(default=50, ge=0, description="Workloads of the sealed test families.")
    splits: tuple[Literal["train", "validation", "test"], ...] = Field(
        default=("train", "validation", "test"), description="Splits to collect in this run."
    )
    families: tuple[str, ...] = Field(
        default=(), description="Families to collect in this run, by name; all of these splits if none is named."
    )
    grid: Literal["default", "large"] = Field(
        default="large",
        description="Configurations to compare: pool sizes to 64 (default; that of MariaDB unless named) or to 128 "
        "(large); simulated pools always have the large one. A store has one grid.",
    )
    seed: int = Field(default=1, ge=0, description="Seed of the workloads and of the order of measuring.")
    machine: str = Field(
        default=f"{os.cpu_count()} CPUs, {platform.machine()}", description="Label of the machine in the records."
    )
    server: Literal["native", "simulated", "mariadb"] = Field(
        default="native",
        description="Backend the workloads run on; what is simulated or measured on MariaDB goes to stores of its own, "
        "pipelines/simulated and pipelines/mariadb.",
    )
    cpus: int | None = Field(
        default=None,
        ge=1,
        description="Processors of the server under every workload; if not given one and two in turns on the embedded "
        "pool, two on the test server. Simulated machines have sizes of their own.",
    )
    simulated: SimulatedSettings = SimulatedSettings()
    mariadb: MariadbSettings = MariadbSettings()
    time_budget_s: float | None = Field(
        default=None, gt=0.0, description="Seconds after which to stop cleanly; none is no limit."
    )
    failures_in_a_row: int = Field(default=3, ge=1, description="Workloads failing in a row that end the run.")
    racing: MeasurementSettings = MeasurementSettings()
    idle_timeout_s: float = Field(
        default=1.0,
        gt=0.0,
        description="Life of a surplus thread: short, so that little carries over between configurations.",
    )
    random_share: float = Field(
        default=0.06,
        ge=0.0,
        lt=1.0,
        description="Share of uniformly drawn configurations among sweep and random windows.",
    )
    climbs: int = Field(default=1, ge=0, description="Cold climbs from the default.")
    climb_period_s: float = Field(default=0.25, gt=0.0, description="Length of a window of a climb in seconds.")
    climb_horizon_s: float = Field(default=5.0, gt=0.0, description="Length of a climb in seconds.")
    segment_every_s: float = Field(
        default=60.0, ge=0.0, description="Seconds of measuring that a kill may cost at most."
    )
    tracking: Path | None = Field(default=None, description="Folder of a local MLflow store to log the run to.")

    @model_validator(mode="after")
    def _servers_apart(self) -> Self:
        """Other defaults for other servers: a store apart, and sweeps alone."""
        defaults: dict[str, dict[str, object]] = {
            "native": {},
            "simulated": {"store": SIMULATED_STORE, "climbs": 0, "random_share": 0.0},
            "mariadb": {"store": MARIADB_STORE, "climbs": 0, "grid": "default"},
        }
        return self.with_defaults(defaults[self.server])

    @field_validator("racing")
    @classmethod
    def _oracle_is_measured_again(cls, racing: MeasurementSettings) -> MeasurementSettings:
        if racing.oracle_repeats < 1:
            raise ValueError("oracle_repeats must be at least 1: the noise floor and the regrets rest on it")
        return racing

    @property
    def action_grid(self) -> ActionGrid:
        """The tuples to compare."""
        return GRIDS[self.grid]

    def random_windows(self, sweep_windows: int) -> int:
        """Random windows wanted beside those of a sweep."""
        return round(self.random_share / (1.0 - self.random_share) * sweep_windows)

    def expected_windows(self, tuples: int) -> int:
        """Windows that one workload takes, about; for the estimate of the time left."""
        windows = self.racing.most_windows(tuples)
        return windows + self.random_windows(windows) + self.climbs * round(self.climb_horizon_s / self.climb_period_s)

    def planned(self) -> list[PlannedWorkload]:
        """The workloads of the splits to collect, each split spread evenly over the whole run.

        A run that is cut short so still leaves something to train, to validate and to test on.
        """
        counts: dict[Split, int] = {
            "train": self.train_workloads,
            "validation": self.validation_workloads,
            "test": self.test_workloads,
        }
        by_split: dict[Split, list[PlannedWorkload]] = defaultdict(list)
        for planned in workload_set(self.seed, counts, self.cpus):
            by_split[planned.split].append(planned)
        placed = [
            ((index + 0.5) / len(workloads), planned)
            for split, workloads in by_split.items()
            if split in self.splits
            for index, planned in enumerate(workloads)
        ]
        return self.chosen([planned for _, planned in sorted(placed, key=lambda one: one[0])], FAMILIES)

    def chosen(self, planned: Iterable[PlannedWorkload[W]], known: Collection[str]) -> list[PlannedWorkload[W]]:
        """The workloads of the families to collect in this run.

        Args:
            planned: The workloads of the splits.
            known: Families that there are on this server.

        Raises:
            SettingError: A family is unknown, or none of its workloads is planned.
        """
        kept = [one for one in planned if not self.families or one.workload.family in self.families]
        unknown = [name for name in self.families if name not in known]
        if unknown:
            raise SettingError(
                f"there is no family {unknown[0]!r} on the server {self.server!r}; there are {', '.join(known)}"
            )
        missing = sorted(set(self.families) - {one.workload.family for one in kept})
        if missing:
            raise SettingError(
                f"no workload of the family {missing[0]!r} is planned: it is in none of the splits "
                f"{', '.join(self.splits)}, or these have too few workloads to reach it; name its split with --set "
                "splits=NAME, or ask for more workloads"
            )
        return kept
