"""What the demonstration runs and for how long."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from poolpilot.agent.controllers.warm_start import MARIADB_CLIMB, MARIADB_WARM_START, WarmStartSettings
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.measurement.protocol import MARIADB_RACING, MeasurementSettings
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.lab.lab_server import LabPlace
from poolpilot.pipelines.demo.demo_schedule import DemoSchedule

SURPLUS_THREADS_LIVE_S = 1.0
"""Life of a thread that the embedded pool no longer needs: short, so that a configuration shows its own threads."""


class DemoSettings(ProgramSettings):
    """Settings of `poolpilot demo`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_DEMO_")
    longer_prefixes: ClassVar[tuple[str, ...]] = ("POOLPILOT_DEMO_MARIADB_", "POOLPILOT_DEMO_PRODUCTION_")

    seed: int = Field(default=1, ge=0, description="Draws the workloads from the held-out families.")
    output: Path = Field(default=Path("demo-out"), description="Folder for the report and the pictures.")
    model: Path | None = Field(
        default=None, description="Folder of a network to try by instead; `network` is the shipped one."
    )
    seconds: float = Field(
        default=220.0, ge=10.0, le=3600.0, description="How long it lasts; a busy machine measures less in that time."
    )

    @property
    def schedule(self) -> DemoSchedule:
        """How what is measured is measured."""
        return DemoSchedule(
            horizon_s=10.0,
            warm_start=WarmStartSettings(),
            climb=ClimbSettings(),
            racing=MeasurementSettings(settle_intervals=1.0, window_ticks=1.0),
            judged=MeasurementSettings(window_s=0.6),
        )


class MariadbDemoSettings(DemoSettings):
    """Settings of `poolpilot demo --mariadb`: a real server is slower and noisier, so it is watched longer."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_DEMO_MARIADB_")
    longer_prefixes = ()

    output: Path = Field(default=Path("demo-mariadb-out"), description="Folder for the report and the picture.")
    family: str = Field(default="joins_beside", description="Family of the test server to draw the workload from.")
    place: LabPlace = LabPlace()

    @property
    def schedule(self) -> DemoSchedule:
        """How what is measured is measured."""
        return DemoSchedule(
            horizon_s=40.0,
            warm_start=MARIADB_WARM_START,
            climb=MARIADB_CLIMB,
            racing=MARIADB_RACING,
            judged=MARIADB_RACING.model_copy(update={"window_s": 1.5}),
        )
