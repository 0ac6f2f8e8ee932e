"""What a trial that was rolled back may leave behind: a pool that is poorer, under a workload that is the same.

A pool may have more than one state, and going back does not bring the better one back, which looks like another
workload. Were that what it is taken for, the trial of what was found at first would be one more that changes the state,
and latency would be held against what is found then: a step higher after each such trial. So a change that follows
directly upon a trial counts as the trial's, as long as no harm is done that another workload would have to explain:
while the incumbent does no worse than the initial tuple did before.
"""

import math
import statistics
from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict

from poolpilot.serve.tuner.guard.guard_settings import GuardSettings
from poolpilot.serve.tuner.machine.evidence.paired_trial import Z_HARM, noise_of
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading


class Aftermath(BaseModel):
    """The while after a trial in which a change of what is watched may be of its making.

    Attributes:
        latency: ln latency (ms) under the initial tuple of the workload, as it was before the trial; None where it is
            not known.
        goodput: ln of what was completed a second under it, or of goodput where that is no time.
        scatter: Standard deviation of a window before the trial.
        changed: Whether a change was seen.
        windows: Windows in a row since, or since the change, that are alike.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    latency: float | None
    goodput: float
    scatter: float
    changed: bool = False
    windows: int = 0

    @classmethod
    def of(cls, baseline: Sequence[Reading], risen: float, gained: float) -> Self | None:
        """That of a trial which begins; None where there is no window.

        Args:
            baseline: Windows before the trial.
            risen: How far ln latency in them is above that of the initial tuple of the workload.
            gained: How far ln goodput in them is above that.
        """
        if not baseline:
            return None
        latency, scatter = _ln_latency(baseline), noise_of([each.by_completions() for each in baseline])
        first = None if latency is None else latency - risen
        return cls(latency=first, goodput=_ln_goodput(baseline) - gained, scatter=scatter)

    def does(self, reading: Reading, guard: GuardSettings) -> bool:
        """Whether a window is worse than the initial tuple's by no more than a trial may be and chance explains."""
        chance = Z_HARM * self.scatter
        drop, rise = -math.log1p(-guard.most_drop), math.log1p(guard.most_latency_rise)
        return self.gained((reading,)) >= -drop - chance and self.risen((reading,)) <= rise + chance

    def after_change(self) -> Self:
        """Goes on with the first window of a change."""
        return self.model_copy(update={"changed": True, "windows": 1})

    def after_window(self) -> Self:
        """Goes on with a further window that is like those before it."""
        return self.model_copy(update={"windows": self.windows + 1})

    def held_against(self, baseline: Sequence[Reading]) -> dict[str, float]:
        """The fields of a memory that hold windows against the initial tuple."""
        return {"risen": self.risen(baseline), "gained": self.gained(baseline)}

    def gained(self, baseline: Sequence[Reading]) -> float:
        """How far ln goodput is above that of the initial tuple."""
        return _ln_goodput(baseline) - self.goodput

    def risen(self, baseline: Sequence[Reading]) -> float:
        """How far ln latency is above that of the initial tuple; no less than 0, as a lighter load is no leave."""
        now = _ln_latency(baseline)
        return 0.0 if now is None or self.latency is None else max(now - self.latency, 0.0)


def _ln_goodput(readings: Sequence[Reading]) -> float:
    return statistics.fmean(math.log(each.by_completions().goodput_per_s) for each in readings)


def _ln_latency(readings: Sequence[Reading]) -> float | None:
    """Mean ln latency; None where it is not known of each."""
    known = [math.log(each.latency_ms) for each in readings if each.latency_ms is not None]
    return statistics.fmean(known) if len(known) == len(readings) else None
