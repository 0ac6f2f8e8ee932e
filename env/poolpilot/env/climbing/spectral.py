"""The spectral climber as every program uses it: one settings model, one factory."""

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import SettingError
from poolpilot.native_pool import SpectralClimber, SpectralSettings


class ClimbSettings(BaseModel):
    """The few settings of the climber that differ from server to server; the others keep their defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    period_s: float = Field(default=0.1, gt=0.0, description="Seconds from one sample to the next (hcm_min_period).")
    longest_period_s: float | None = Field(
        default=None,
        gt=0.0,
        description="Longest such time, up to which noise may stretch it (hcm_period); without it samples are equal.",
    )
    samples_to_wave_period_ratio: int = Field(
        default=4,
        ge=2,
        description="Periods of the wave in the history that decides; fewer than Trub's 8, whose precision is lost "
        "in what a pool still holds of earlier sizes.",
    )
    growth_periods: int = Field(
        default=2, ge=1, description="Periods without a trend after which a wave grows (hcm_growth_periods)."
    )
    min_thread_wave_magnitude: float = Field(
        default=18.0, gt=0.0, description="Smallest swing of the wave in threads, on a pool of 36 (hcm_reference_size)."
    )
    min_accepted_throughput: float = Field(
        default=1.0, ge=0.0, description="Goodput a second under which the climber pauses; Trub's 300 suit 72 CPUs."
    )
    price_of_thread: float = Field(default=0.01, ge=0.0, description="Elasticity a further thread must earn.")
    quick_exit_samples: int = Field(
        default=0,
        ge=0,
        description="Samples that are enough to leave a held size after a large change; 0: never so few, since on a "
        "live server two short samples are often a hiccup.",
    )
    hiccup_s: float = Field(
        default=1.5,
        ge=0.0,
        description="Seconds for which a held size that has left its reference is measured again first (hcm_hiccup): "
        "longer than another process takes a processor for.",
    )
    verify_warm_start: bool = Field(
        default=False, description="Whether a warm start makes a small wave before it holds; the predictor's looks do."
    )

    def native(self) -> SpectralSettings:
        """The climber's own settings.

        Raises:
            SettingError: A value is out of the climber's range or contradicts another.
        """
        longest_s = self.period_s if self.longest_period_s is None else self.longest_period_s
        return native_settings(
            hcm_hillclimbing_enabled=True,
            hcm_log_enabled=True,
            adapt_period=self.longest_period_s is not None,
            hcm_min_period=self.period_s,
            hcm_period=longest_s,
            samples_to_wave_period_ratio=self.samples_to_wave_period_ratio,
            hcm_growth_periods=self.growth_periods,
            hcm_min_thread_wave_magnitude=self.min_thread_wave_magnitude,
            min_accepted_throughput=self.min_accepted_throughput,
            price_of_thread=self.price_of_thread,
            hcm_quick_exit_samples=self.quick_exit_samples,
            hcm_hiccup=self.hiccup_s,
            verify_warm_start=self.verify_warm_start,
        )


def native_settings(base: SpectralSettings | None = None, **settings: float) -> SpectralSettings:
    """The climber's settings with some of them replaced.

    Args:
        base: What they replace; the defaults if None.
        **settings: Values by name.

    Raises:
        SettingError: There is no such setting, or a value is out of its range or contradicts another.
    """
    try:
        return (base or SpectralSettings()).replaced(**settings)
    except (TypeError, ValueError) as error:
        raise SettingError(str(error)) from error


def as_native(settings: ClimbSettings | SpectralSettings) -> SpectralSettings:
    """The climber's own settings, whichever they are given as.

    Raises:
        SettingError: A value is out of the climber's range or contradicts another.
    """
    return settings.native() if isinstance(settings, ClimbSettings) else settings


def spectral_climber(
    settings: ClimbSettings | SpectralSettings, knobs: KnobSpace, size: int | None = None, *, warm: bool = False
) -> SpectralClimber:
    """Makes a climber over the sizes a server allows.

    Args:
        settings: How it climbs.
        knobs: The server's knobs.
        size: Size it starts at; the server's default if None.
        warm: Whether it starts as if it had arrived: it holds, and climbs only when what it sees changes.

    Raises:
        SettingError: A setting or the size is out of range.
    """
    sizes = knobs.knobs["pool_size"]
    native = as_native(settings)
    start = int(sizes.default if size is None else size)
    try:
        return SpectralClimber(native, start, int(sizes.low), int(sizes.high), warm=warm)
    except ValueError as error:
        raise SettingError(str(error)) from error
