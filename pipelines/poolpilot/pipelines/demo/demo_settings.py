"""What the demonstration runs and for how long."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import SettingsConfigDict

from poolpilot.agent.controllers.warm_start import MARIADB_CLIMB, MARIADB_WARM_START, WarmStartSettings
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.lab.lab_server import LabPlace
from poolpilot.env.measurement.protocol import MARIADB_RACING, MeasurementSettings
from poolpilot.env.program_settings import ProgramSettings


class DemoSettings(ProgramSettings):
    """Settings of `poolpilot demo`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_DEMO_")
    longer_prefixes: ClassVar[tuple[str, ...]] = ("POOLPILOT_DEMO_MARIADB_", "POOLPILOT_DEMO_PRODUCTION_")

    seed: int = Field(default=1, ge=0, description="Draws the workloads from the held-out families.")
    output: Path = Field(default=Path("demo-out"), description="Folder for the report and the pictures.")
    model: Path | None = Field(
        default=None, description="Folder of a network to try by instead; `network` is the shipped one."
    )
    horizon_s: float = Field(default=16.0, gt=2.0, description="Seconds that every climb is watched.")
    idle_timeout_s: float = Field(default=1.0, gt=0.0, description="Life of a surplus thread.")
    warm_start: WarmStartSettings = WarmStartSettings()
    climb: ClimbSettings = ClimbSettings()
    racing: MeasurementSettings = MeasurementSettings(oracle_repeats=0)
    judged_repeats: int = Field(default=4, ge=2, description="Interleaved windows that configurations are compared by.")
    judged_window_s: float = Field(default=0.6, gt=0.0, description="Length of such a window in seconds.")

    @field_validator("warm_start", "climb")
    @classmethod
    def _seen_within_the_horizon(
        cls, doing: WarmStartSettings | ClimbSettings, info: ValidationInfo
    ) -> WarmStartSettings | ClimbSettings:
        window_s = doing.measurement.window_s if isinstance(doing, WarmStartSettings) else doing.period_s
        horizon_s = info.data.get("horizon_s", window_s)  # one that was refused is not there
        if window_s > horizon_s:
            raise ValueError(f"a window of {window_s:g} s does not fit into horizon_s, which is {horizon_s:g}")
        return doing


class MariadbDemoSettings(DemoSettings):
    """Settings of `poolpilot demo-mariadb`: a real server is slower to answer and noisier, so it is watched longer."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_DEMO_MARIADB_")
    longer_prefixes = ()

    output: Path = Field(default=Path("demo-mariadb-out"), description="Folder for the report and the picture.")
    family: str = Field(default="joins_beside", description="Family of the test server to draw the workload from.")
    horizon_s: float = Field(default=45.0, gt=2.0, description="Seconds that every climb is watched.")
    warm_start: WarmStartSettings = MARIADB_WARM_START
    climb: ClimbSettings = MARIADB_CLIMB
    racing: MeasurementSettings = MARIADB_RACING.model_copy(update={"oracle_repeats": 0})
    judged_window_s: float = Field(default=1.5, gt=0.0, description="Length of such a window in seconds.")
    place: LabPlace = LabPlace()
