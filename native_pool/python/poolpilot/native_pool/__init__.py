"""The C++ core: live pool server, load generator and climbers."""

from poolpilot.native_pool._core import LivePool, LoadGenerator, SpectralClimber, SpectralSettings

__all__ = ["LivePool", "LoadGenerator", "SpectralClimber", "SpectralSettings"]
