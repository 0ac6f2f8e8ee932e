"""A trial beside what it would replace: windows of both in turn, so that a drift of the load falls on both alike.

The windows are A0 B1 A1 B2 A2 ..., A the tuple before and B the one tried. The difference of B_i is
    d_i = ln B_i - (ln A_{i-1} + ln A_i) / 2,
which a load that rises or falls evenly leaves at zero. Of windows with a standard deviation s, d has the variance
1.5 s^2; neighbours share an A, so that the mean of n of them has about 4/3 of the variance that n separate ones would
have. The spread of few differences is hardly known, so that of the windows before counts as `KNOWN` further ones.
"""

import itertools
import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading

KNOWN = 4
LEAST_NOISE = 0.01
"""Windows never repeat themselves better than this, however few of them seem to."""

UNSEEN_NOISE = 0.03
"""How well completions repeat themselves where too few windows were seen to tell."""

BY_TIME = "by the time that requests spend"
"""How goodput is told apart where it is no count of completed requests."""

Z_ONE_SIDED_95 = 1.645
Z_HARM = 2.5
"""Standard errors beyond which a loss is no chance: one in 160 trials that change nothing ends early."""

Z_CLEAR = 4.0
"""Standard errors beyond which a gain needs no further windows."""

KEPT_SHARE = 0.5
"""Part of what a trial may lose that what is kept may: its windows scatter on both sides of their mean."""

UNSHOWN = 4.0
"""Beyond so many of the standard errors that are wanted windows show nothing, least of all that a candidate is no
worse: 10 % unless somebody wants another one."""

OF_A_DIFFERENCE, SHARED = 1.5, 4.0 / 3.0

MEDIAN_OF_NORMAL = 0.6745
"""Median distance of a normal variable from its mean, in standard deviations."""

Verdict = Literal["better", "no worse", "worse"]


class PairedTrial(BaseModel):
    """A trial in progress.

    Attributes:
        before: The tuple in force before, which is verified.
        candidate: The tuple that is tried.
        noise: Standard deviation of ln goodput between windows of `before`.
        befores: Windows under `before`, the last one before the trial first.
        candidates: Windows under `candidate`.
        throughput_noise: The same of ln throughput, where goodput is told by the time that requests spend in the pool;
            None where it is told by completions.
        rows_lost: How far ln rows read a second under `before` are below those at first, by the trials between.
        rows_variance: Variance of `rows_lost` by chance.
        rows_noise: Standard deviation of ln rows read a second between windows of `before`.
        risen: How far ln latency under `before` is above that of the workload's initial tuple, by the trials between.
        anew: Whether it has begun anew with the first window of `before` since it began.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    before: PoolTuple
    candidate: PoolTuple
    noise: float
    befores: tuple[Reading, ...]
    candidates: tuple[Reading, ...] = ()
    throughput_noise: float | None = None
    risen: float = 0.0
    rows_lost: float = 0.0
    rows_variance: float = 0.0
    rows_noise: float = UNSEEN_NOISE
    anew: bool = False

    @property
    def next(self) -> PoolTuple:
        """The tuple of the next window."""
        return self.candidate if len(self.befores) > len(self.candidates) else self.before

    @property
    def befores_within(self) -> tuple[Reading, ...]:
        """Windows under `before` since the trial began."""
        return self.befores if self.anew else self.befores[1:]

    def from_latest(self) -> "PairedTrial":
        """The trial from the latest window of `before` on."""
        return self.model_copy(update={"befores": self.befores[-1:], "candidates": (), "anew": True})

    def with_reading(self, reading: Reading) -> "PairedTrial":
        """The trial with the window of `next`."""
        if self.next == self.candidate:
            return self.model_copy(update={"candidates": (*self.candidates, reading)})
        return self.model_copy(update={"befores": (*self.befores, reading)})

    @property
    def goes_by_time(self) -> bool:
        """Whether its windows are told apart by the time that requests spend, and not by how many are completed."""
        return self.throughput_noise is not None

    def falls_short(self, lost: float, than: object) -> str:
        """A loss of so much ln goodput, in words."""
        by = f"{100 * -math.expm1(-lost):.0f} %"
        return f"is {by} worse than {than} {BY_TIME}" if self.goes_by_time else f"completes {by} less than {than}"

    def harm(self, guard: GuardSettings) -> str | None:
        """Why the trial must end now, as a sentence; None while nothing speaks against it.

        A loss counts where it exceeds what the guard allows and what chance explains. Latency is held against that of
        the initial tuple of the workload, so that it does not creep up step by step; where it is above what is allowed
        already, as a trial has left it, no candidate may add to that.
        """
        if not self.candidates:
            return None
        for trial in self._judged():
            if (lost := trial.lost(guard.most_drop, Z_HARM)) > 0.0:
                if trial is self:
                    return f"{self.candidate} {self.falls_short(lost, self.before)}"
                return f"{self.candidate} completes {100 * -math.expm1(-lost):.0f} % fewer requests than {self.before}"
        chance = self._chance(Z_HARM)
        rise = self.latency_rise()
        allowed = math.log1p(guard.most_latency_rise)
        if rise is not None and rise > chance and rise > allowed:
            return f"latency under {self.candidate} is {100 * math.expm1(rise):.0f} % above that under {self.before}"
        if rise is not None and rise > max(allowed - self.risen, 0.0) + chance:
            whole = 100 * math.expm1(self.risen + rise)
            return f"latency under {self.candidate} would be {whole:.0f} % above that at first, with the steps before"
        return None

    def fails(self, reading: Reading, guard: GuardSettings) -> str | None:
        """Why a window of a trial that has done well speaks against it; None where nothing does."""
        scatter = Z_HARM * math.sqrt(1.0 + 1.0 / len(self.befores))
        for trial, fall in self._falls(reading):
            if fall > max(-math.log1p(-guard.most_drop), scatter * trial.noise):
                return f"{100 * -math.expm1(-fall):.0f} % below {self.before}"
        chance = scatter * self.noise
        known = [each.latency_ms for each in self.befores if each.latency_ms is not None]
        if reading.latency_ms is None or len(known) < len(self.befores):
            return None
        rise = math.log(reading.latency_ms) - statistics.fmean(map(math.log, known))
        if rise > max(math.log1p(guard.most_latency_rise) - max(self.risen, 0.0), 0.0) + chance:
            return f"latency {100 * math.expm1(rise):.0f} % above {self.before}"
        return None

    def fall(self, reading: Reading) -> float:
        """How far ln goodput of a window is below that of before, or ln of its completions, whichever is further."""
        return max(fall for _, fall in self._falls(reading))

    def _falls(self, reading: Reading) -> Iterator[tuple["PairedTrial", float]]:
        for trial, window in zip(self._judged(), (reading, reading.by_completions()), strict=False):
            before = statistics.fmean(math.log(each.goodput_per_s) for each in trial.befores)
            yield trial, before - math.log(window.goodput_per_s)

    def too_slow(self, held_on: Sequence[Reading], guard: GuardSettings) -> str | None:
        """Why the candidate may not be kept, with the windows that it has stood, by its latency or by its completions.

        None where it may.
        """
        counted = self._judged()[-1]
        if counted is not self and (lost := counted.lost(KEPT_SHARE * guard.most_drop, Z_ONE_SIDED_95)) > 0.0:
            fewer = 100 * -math.expm1(-lost)
            return f"{self.candidate} completes {fewer:.0f} % fewer requests than {self.before}: too few to stay"
        known = [each.latency_ms for each in self.befores if each.latency_ms is not None]
        tried = [each.latency_ms for each in (*self.candidates, *held_on) if each.latency_ms is not None]
        if len(known) < len(self.befores) or len(tried) < len(self.candidates) + len(held_on):
            return None
        rise = statistics.fmean(map(math.log, tried)) - statistics.fmean(map(math.log, known))
        whole = max(self.risen, 0.0) + rise
        if rise <= 0.0 or whole <= math.log1p(KEPT_SHARE * guard.most_latency_rise):
            return None
        return (
            f"latency under {self.candidate} is {100 * math.expm1(whole):.0f} % above that at first: too much to stay"
        )

    def verdict(self, guard: GuardSettings, pace: PaceSettings) -> Verdict | None:
        """What came of it; None while further windows are needed."""
        pairs = len(self.candidates)
        if self.next == self.before or not pairs:
            return None
        mean, error = self.gain()
        slow = self.too_slow((), guard) is not None
        fewer = self._fewer_perhaps(guard)
        clear = mean - Z_CLEAR * error > 0.0 and not slow
        if clear and (fewer is None or (fewer <= 0.0 and pairs >= pace.least_pairs)):
            return "better"
        if pairs < pace.least_pairs:
            return None
        if pairs < self._most_pairs(pace) and (error > pace.wanted_error or (fewer or 0.0) > 0.0):
            return None
        if slow or (fewer is not None and fewer > -math.log1p(-guard.most_drop)):
            return "worse"
        if mean - Z_ONE_SIDED_95 * error > 0.0:
            return "better"
        beyond = mean + Z_ONE_SIDED_95 * error < 0.0 or mean < math.log1p(-KEPT_SHARE * guard.most_drop)
        return "worse" if beyond or error > UNSHOWN * pace.wanted_error else "no worse"

    def _most_pairs(self, pace: PaceSettings) -> int:
        """Pairs at most; one that was given up when the trial began anew counts."""
        return max(pace.most_pairs - self.anew, pace.least_pairs)

    def _fewer_perhaps(self, guard: GuardSettings) -> float | None:
        """How far ln completions are below those of before, where that may be more than what is kept may lose.

        None where it is surely less, or where goodput is a count of them. Time alone can gain beyond doubt while
        requests wait where the server does not see them.
        """
        counted = self._judged()[-1]
        if counted is self:
            return None
        mean, error = counted.gain()
        return -mean if mean - Z_ONE_SIDED_95 * error < math.log1p(-KEPT_SHARE * guard.most_drop) else None

    def gain(self) -> tuple[float, float]:
        """Mean difference of ln goodput, candidate over before, and its standard error."""
        found = self._differences([reading.goodput_per_s for reading in self.candidates], "goodput")
        pairs = len(found)
        seen = sum((each - statistics.fmean(found)) ** 2 for each in found)
        variance = (seen + KNOWN * OF_A_DIFFERENCE * self.noise**2) / (pairs - 1 + KNOWN)
        return statistics.fmean(found), math.sqrt(SHARED * variance / pairs)

    def by_completions(self) -> "PairedTrial":
        """The same trial judged by what its windows have completed.

        The time that requests spend in the pool is sampled a few times a second. Where clients take their time it may
        shrink to nothing while no more is completed, and scatter so much that a tenth less passes for chance.
        """
        counted = {
            "befores": tuple(each.by_completions() for each in self.befores),
            "candidates": tuple(each.by_completions() for each in self.candidates),
            "noise": self.noise if self.throughput_noise is None else self.throughput_noise,
            "throughput_noise": None,
        }
        return self.model_copy(update=counted)

    def _judged(self) -> tuple["PairedTrial", ...]:
        """The trial and, where its goodput is no count of requests, the same by completions: both must do."""
        return (self,) if self.throughput_noise is None else (self, self.by_completions())

    def left_behind(self, baseline: Sequence[Reading], guard: GuardSettings) -> float:
        """How far ln goodput of `before` is below its windows before the trial, where that is no chance; 0 where it is.

        A pool may have more than one state, and a trial may leave it in a poorer one.
        """
        if self.throughput_noise is not None:
            return self.by_completions().left_behind([each.by_completions() for each in baseline], guard)
        since = self.befores[1:]
        if not since or not baseline:
            return 0.0
        usual = statistics.fmean(math.log(each.goodput_per_s) for each in baseline)
        fall = usual - statistics.fmean(math.log(each.goodput_per_s) for each in since)
        chance = Z_HARM * self.noise * math.sqrt(1.0 / len(since) + 1.0 / len(baseline))
        return fall if fall > max(-math.log1p(-KEPT_SHARE * guard.most_drop), chance) else 0.0

    def held_to(self, baseline: Sequence[Reading], guard: GuardSettings) -> "PairedTrial":
        """The trial against the windows before it, where going back is what loses; itself elsewhere.

        That is so where the tuple of before no longer does as well as it did, and the candidate does: a load that falls
        strikes both.
        """
        if not self.left_behind(baseline, guard):
            return self
        befores = tuple(itertools.islice(itertools.cycle(baseline), len(self.befores)))
        held = self.model_copy(update={"befores": befores})
        does = all(trial.lost(KEPT_SHARE * guard.most_drop, 0.0) == 0.0 for trial in held._judged())
        return held if does else self

    def lost(self, share: float, deviations: float) -> float:
        """How far ln goodput under the candidate is below that before; 0 where that is little, or chance.

        Args:
            share: Share that may be lost.
            deviations: Standard errors within which a loss is chance.
        """
        lost = -statistics.fmean(self._differences([each.goodput_per_s for each in self.candidates], "goodput"))
        return lost if lost > max(-math.log1p(-share), self._chance(deviations)) else 0.0

    def _chance(self, deviations: float) -> float:
        return deviations * self.noise * math.sqrt(SHARED * OF_A_DIFFERENCE / len(self.candidates))

    def lost_requests(self, held_on: Sequence[Reading] = ()) -> float:
        """Requests that the windows of the candidate completed less than those around them; negative for a gain.

        Args:
            held_on: Further windows of the candidate, which have none of `before` around them: all of these count.
        """
        rates = [reading.throughput_per_s for reading in self.befores]
        beside = [statistics.fmean(rates[place : place + 2]) for place in range(len(self.candidates))]
        beside += [statistics.fmean(rates)] * len(held_on)
        windows = zip(beside, (*self.candidates, *held_on), strict=True)
        return sum((rate - reading.throughput_per_s) * reading.seconds for rate, reading in windows)

    def _differences(self, tried: Sequence[float], of: Literal["goodput", "latency"]) -> list[float]:
        around = [reading.goodput_per_s if of == "goodput" else reading.latency_ms or 0.0 for reading in self.befores]
        return [
            math.log(value) - statistics.fmean(map(math.log, around[place : place + 2]))
            for place, value in enumerate(tried)
        ]

    def latency_rise(self) -> float | None:
        """Mean difference of ln latency, candidate over before; None where it is not known on both sides."""
        tried = [reading.latency_ms for reading in self.candidates]
        if any(value is None for value in (*tried, *(reading.latency_ms for reading in self.befores))):
            return None
        return statistics.fmean(self._differences([value for value in tried if value is not None], "latency"))


def noise_of(readings: Sequence[Reading]) -> float:
    """Standard deviation of ln goodput between windows, by their steps: a slow drift of the load is no noise."""
    steps = _steps_of(readings)
    if not steps:
        return LEAST_NOISE
    return max(math.sqrt(statistics.fmean(step * step for step in steps) / 2.0), LEAST_NOISE)


def usual_scatter(readings: Sequence[Reading]) -> float:
    """The same by the median step, so that one leap among many windows, another workload, is no scatter."""
    steps = _steps_of(readings)
    return statistics.median(map(abs, steps)) / (MEDIAN_OF_NORMAL * math.sqrt(2.0)) if steps else 0.0


def _steps_of(readings: Sequence[Reading]) -> list[float]:
    logs = [math.log(reading.goodput_per_s) for reading in readings]
    return [later - earlier for earlier, later in itertools.pairwise(logs)]
