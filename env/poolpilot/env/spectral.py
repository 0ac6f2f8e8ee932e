"""The spectral climber as every program uses it: one settings model, one factory."""

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.knobs import KnobSpace
from poolpilot.native_pool import SpectralClimber, SpectralSettings


class ClimbSettings(BaseModel):
    """How a climb samples and how wide its wave swings; names as in the climber's own settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    period_s: float = Field(default=0.1, gt=0.0, description="Seconds from one sample to the next (hcm_period).")
    samples_to_wave_period_ratio: int = Field(
        default=8, ge=2, description="Periods of the wave in the history that decides."
    )
    min_thread_wave_magnitude: float = Field(
        default=36.0, gt=0.0, description="Smallest swing of the wave in threads, on a pool of 72."
    )
    min_accepted_throughput: float = Field(
        default=1.0, ge=0.0, description="Goodput a second under which the climber pauses; the seed's 300 suit 72 CPUs."
    )
    price_of_thread: float = Field(default=0.02, ge=0.0, description="Elasticity a further thread must earn.")


def spectral_climber(
    settings: ClimbSettings, knobs: KnobSpace, size: int | None = None, *, warm: bool = False
) -> SpectralClimber:
    """Makes a climber over the sizes a server allows.

    Args:
        settings: How it climbs.
        knobs: The server's knobs.
        size: Size it starts at; the server's default if None.
        warm: Whether it starts as if it had arrived: it holds, and climbs only when what it sees changes.
    """
    sizes = knobs.knobs["pool_size"]
    native = SpectralSettings(
        samples_to_wave_period_ratio=settings.samples_to_wave_period_ratio,
        hcm_min_thread_wave_magnitude=settings.min_thread_wave_magnitude,
        min_accepted_throughput=settings.min_accepted_throughput,
        price_of_thread=settings.price_of_thread,
    )
    start = int(sizes.default if size is None else size)
    return SpectralClimber(native, start, int(sizes.low), int(sizes.high), warm=warm)
