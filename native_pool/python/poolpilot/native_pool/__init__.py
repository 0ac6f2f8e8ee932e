"""The C++ core: live pool server, load generator, simulator and climbers."""

from poolpilot.native_pool._core import (
    Climber,
    KnobClimber,
    LivePool,
    LoadGenerator,
    QueueRule,
    QueueSpec,
    RequestQueues,
    SpectralClimber,
    SpectralSettings,
)

__all__ = [
    "Climber",
    "KnobClimber",
    "LivePool",
    "LoadGenerator",
    "QueueRule",
    "QueueSpec",
    "RequestQueues",
    "SpectralClimber",
    "SpectralSettings",
]
