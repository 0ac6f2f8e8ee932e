"""The size controllers by name, each with the settings its own makers gave it."""

from collections.abc import Callable, Mapping

from poolpilot.native_pool import Climber, SpectralClimber, SpectralSettings
from poolpilot.native_pool._core import (
    ControlTheoryClimber,
    DotnetClimber,
    GoldenSectionClimber,
    ProbingClimber,
    ThreeStateClimber,
)

SPECTRAL = "spectral"
ARTICLE = "article"
DOTNET = "dotnet"
PROBING = "probing"

MakeClimber = Callable[[int, int], Climber]
"""Makes a climber from a start and the largest size."""

ANCESTORS = (DOTNET, PROBING, ARTICLE)
""".NET's climber, MongoDB's probing, and Trub's own settings: what ours must not fall behind."""


def ours(settings: SpectralSettings) -> MakeClimber:
    """Our climber with given settings, switched on."""
    switched_on = settings.replaced(hcm_hillclimbing_enabled=True)
    return lambda start, largest: SpectralClimber(switched_on, start, 1, largest)


BASELINES: Mapping[str, MakeClimber] = {
    ARTICLE: ours(SpectralSettings.article()),
    DOTNET: lambda start, largest: DotnetClimber(start, 1, largest),
    PROBING: lambda start, largest: ProbingClimber(start, 1, largest),
    "control_theory": lambda start, largest: ControlTheoryClimber(start, 1, largest),
    "three_state": lambda start, largest: ThreeStateClimber(start, 1, largest),
    "golden_section": lambda start, largest: GoldenSectionClimber(start, 1, largest),
}
