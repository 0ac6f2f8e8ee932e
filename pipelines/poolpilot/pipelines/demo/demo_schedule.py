"""How long the parts of a demonstration last, as shares of the time it has."""

from dataclasses import dataclass

from poolpilot.agent.controllers.warm_start import WarmStartSettings
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.measurement.protocol import MeasurementSettings

CLIMB_SHARE = 0.2
"""Share of a workload's time that each of the two climbs has at most."""

LEAST_HORIZON_S = 2.5
"""Seconds that a climb is watched at least: it holds the longest of the first windows."""

SWEEP_SHARE = 0.55
"""Share of what is left after the climbs in which the sweep must end; the comparison has the rest."""

KEPT_SHARE, FINALISTS = 0.3, 3
"""What a sweep of one race and one repeat hands to the comparison, which measures it anew."""


@dataclass(frozen=True)
class DemoSchedule:
    """How what is measured is measured.

    Attributes:
        horizon_s: Seconds that a climb is watched at most.
        warm_start: How the warm start tries.
        climb: How both climb.
        racing: Windows of the sweep, which only names what the comparison measures anew.
        judged: Windows of the comparison.
    """

    horizon_s: float
    warm_start: WarmStartSettings
    climb: ClimbSettings
    racing: MeasurementSettings
    judged: MeasurementSettings

    def horizon_within(self, seconds: float) -> float:
        """Seconds that a climb is watched where a workload has so many."""
        return min(self.horizon_s, max(CLIMB_SHARE * seconds, LEAST_HORIZON_S))

    @property
    def sweep(self) -> MeasurementSettings:
        """The race without what the comparison does better."""
        update = {"keep_shares": (KEPT_SHARE,), "finalists": FINALISTS, "final_repeats": 1, "oracle_repeats": 0}
        return self.racing.model_copy(update=update)
