"""What the tuner is told each time it decides: what was measured, what is proposed, and what speaks against acting."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from poolpilot.env.objective import Objective
from poolpilot.featurizer.catalogue import ROWS_READ_PER_S
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance, HindranceKind
from poolpilot.featurizer.window import ClassWindow, Window
from poolpilot.mariadb.host.quota_periods import used_up_in_words
from poolpilot.mariadb.server.watch_settings import WatchSettings
from poolpilot.models.advice.gain_bound import GainBound, most_towards
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.latent.ratios import ratios_of
from poolpilot.models.observations.used_up_quota import throttled_share

TAIL = 0.95
"""Quantile of a class's latency that must not rise."""

LEAST, MOST = 1e-9, 1e12
"""What is measured lies between these, in whatever unit: ratios of such numbers can be computed with."""

MOST_GAIN = math.log(1e6)
"""A prediction of a gain beyond a millionfold, or of nothing left, is no advice."""

LOOKS_EVERY_S = WatchSettings().sample_every_s

_Measured = Annotated[float, Field(ge=LEAST, le=MOST)]
_Gain = Annotated[float, Field(ge=-MOST_GAIN, le=MOST_GAIN)]


class Reading(BaseModel):
    """One window, reduced to what a decision rests on.

    Attributes:
        goodput_per_s: What counts, by the objective of the server.
        throughput_per_s: Requests completed per second.
        latency_ms: Geometric mean over the classes of their 95th percentiles; the mean time in the system where nobody
            reports classes; None where neither is known.
        tails_ms: The 95th percentile of each class; none where nobody reports classes.
        seconds: Length of the window.
        by_time: Whether goodput is told by the time that requests spend in the pool, so that completions are held too.
        rows_read_per_s: Rows that statements have read a second, where no client reports classes and the server shows
            it; None elsewhere.
        ratios: What the workload looks like, in the order of `models/latent/ratios.py`; None where it is not shown.
        cpus: Processors that the server might use at its end, a fraction maybe; None where they are not known.
        throttled: Share of the periods of a CPU quota in which it was used up; 0 where nobody counts any.
        most_by_more: The most that more threads can bring, in ln goodput (`GainBound`); None where nothing bounds it.
        most_by_fewer: The same of fewer threads.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    goodput_per_s: _Measured
    throughput_per_s: float = Field(ge=0.0, le=MOST)
    latency_ms: _Measured | None = None
    tails_ms: dict[str, _Measured] = Field(default_factory=dict)
    seconds: _Measured
    by_time: bool = False
    rows_read_per_s: _Measured | None = None
    ratios: tuple[Annotated[float, Field(ge=-MOST, le=MOST)] | None, ...] = ()
    cpus: _Measured | None = None
    throttled: float = Field(default=0.0, ge=0.0, le=1.0)
    most_by_more: Annotated[float, Field(ge=0.0, le=MOST_GAIN)] | None = None
    most_by_fewer: Annotated[float, Field(ge=0.0, le=MOST_GAIN)] | None = None

    @classmethod
    def of(cls, window: Window, objective: Objective) -> Self:
        """The reading of a window."""
        tails_ms, rows = tails_of(window.classes), window.indicators.get(ROWS_READ_PER_S)
        bound = GainBound.of(window, objective)
        latency_ms = _latency_ms(window, tails_ms)
        return cls(
            goodput_per_s=_measured(objective.goodput_per_s(window)),
            throughput_per_s=min(max(window.throughput_per_s, 0.0), MOST),
            latency_ms=None if latency_ms is None else _measured(latency_ms),
            tails_ms=tails_ms,
            seconds=_measured(window.duration_s),
            by_time=objective.goes_by_time(window) and window.throughput_per_s > 0.0,
            rows_read_per_s=None if rows is None or window.classes else _measured(rows),
            ratios=_ratios(window),
            cpus=None if (cpus := window.profile.features.get("cpus")) is None else _measured(cpus),
            throttled=throttled_share(window),
            most_by_more=None if bound is None else _finite(bound.by_more),
            most_by_fewer=None if bound is None else _finite(bound.by_fewer),
        )

    @property
    def requests(self) -> float:
        """Requests that were completed in it."""
        return self.throughput_per_s * self.seconds

    @property
    def chance(self) -> float:
        """Standard error of ln goodput by counting alone: of completed requests, or of requests met by observations.

        A window whose goodput is told by time has met so many requests as were in the pool, at each look at it.
        """
        observations = self.seconds / LOOKS_EVERY_S
        met = observations * self.throughput_per_s / self.goodput_per_s if self.by_time else self.requests
        return 1.0 / math.sqrt(max(met, 1.0))

    def most_gain(self, in_force: PoolTuple, candidate: PoolTuple) -> float:
        """The most that a candidate can bring over what was in force, in ln goodput; infinite where unbounded."""
        bounds = (math.inf if each is None else each for each in (self.most_by_more, self.most_by_fewer))
        return most_towards(in_force, candidate, *bounds)

    @property
    def used_up_quota(self) -> str | None:
        """That the CPU quota is used up and what helps, as a sentence; None where it is not."""
        return used_up_in_words(self.cpus, self.throttled)

    def by_completions(self) -> Self:
        """The same with what it has completed for its goodput where that is told by the time that requests spend."""
        if not self.by_time:
            return self
        return self.model_copy(update={"goodput_per_s": _measured(self.throughput_per_s), "by_time": False})


def _finite(bound: float) -> float | None:
    """A bound as it is kept; None where it says nothing."""
    return bound if bound <= MOST_GAIN else None


def _measured(value: float) -> float:
    return min(max(value, LEAST), MOST)


def _ratios(window: Window) -> tuple[float | None, ...]:
    found = ratios_of(window.profile.features).tolist()
    return tuple(round(value, 4) if math.isfinite(value) else None for value in found)


def tails_of(classes: Mapping[str, ClassWindow]) -> dict[str, float]:
    """The 95th percentile of latency of each class that completed anything, in milliseconds."""
    tails_us = {name: each.latency.quantile(TAIL) for name, each in classes.items()}
    return {name: _measured(tail_us / 1e3) for name, tail_us in tails_us.items() if tail_us > 0.0}


def mean_tail_ms(tails_ms: Mapping[str, float]) -> float:
    """The geometric mean of at least one class's tail: what the tuner takes for latency where it sees classes."""
    return math.exp(sum(map(math.log, tails_ms.values())) / len(tails_ms))


def _latency_ms(window: Window, tails_ms: Mapping[str, float]) -> float | None:
    if tails_ms:
        return mean_tail_ms(tails_ms)
    return 1e3 * window.time_in_system_s if window.time_in_system_s else None


def beside_the_pool(hindrances: Sequence[Hindrance]) -> tuple[Hindrance, ...]:
    """The hindrances that no trial can have brought about: all but that the pool is stuck."""
    return tuple(each for each in hindrances if each.kind is not HindranceKind.STUCK)


def _of_log(logged: object) -> object:
    """What a line of the log holds: a sentence alone in logs that told no kind, and then of what goes on beside."""
    return Hindrance(logged) if isinstance(logged, str) else logged


LoggedHindrance = Annotated[Hindrance, BeforeValidator(_of_log)]


class Proposal(BaseModel):
    """What a predictor would set.

    Attributes:
        pool_tuple: The tuple; the one in force where it abstains or would keep it.
        abstained: Whether it has no advice.
        gain: ln of the goodput expected over that of the tuple in force; None where it is not estimated.
        gain_low: Lower end of the interval of that; None where it is not told, as in older logs.
        gain_high: Upper end of it.
        improvement: Regret that trying it is expected to take off what is kept, as a share; None where not estimated.
        most_gain: ln of the most goodput that any tuple can bring over that in force; None where nothing bounds it.
        reason: Why, in a sentence.
        model_digest: What answered.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    pool_tuple: PoolTuple
    abstained: bool
    gain: _Gain | None = None
    gain_low: _Gain | None = None
    gain_high: _Gain | None = None
    improvement: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    most_gain: _Gain | None = None
    reason: str
    model_digest: str = ""

    @classmethod
    def of(cls, prediction: Prediction, over_first: float) -> Self:
        """What a prediction proposes.

        Args:
            prediction: The prediction, whose gain is over its first window.
            over_first: J of its latest window minus that of its first.
        """
        gain = None if prediction.expected_gain is None else prediction.expected_gain - over_first
        credible = gain is None or abs(gain) <= MOST_GAIN  # no number is not either
        estimated = gain is not None and credible
        return cls(
            pool_tuple=prediction.pool_tuple,
            abstained=prediction.abstained or not credible,
            gain=gain if credible else None,
            gain_low=_bound(prediction.gain_low, over_first) if estimated else None,
            gain_high=_bound(prediction.gain_high, over_first) if estimated else None,
            improvement=_share(prediction.improvement),
            most_gain=_bound(prediction.most_gain, 0.0),
            reason=prediction.reasons[0] if prediction.reasons else "the predictor gives no reason",
            model_digest=prediction.model_digest,
        )


def _bound(gain: float | None, over_first: float) -> float | None:
    """An end of the interval of a gain over the tuple in force, as far as it can be believed; None where none is."""
    if gain is None or not math.isfinite(gain - over_first):
        return None
    return min(max(gain - over_first, -MOST_GAIN), MOST_GAIN)


def _share(improvement: float | None) -> float | None:
    """A share as it may be counted on; None where nothing can be."""
    return None if improvement is None or not math.isfinite(improvement) else min(max(improvement, 0.0), 1.0)


class Challenge(BaseModel):
    """What a challenger would set beside what the champion would.

    Attributes:
        proposal: What the challenger would set.
        expected: ln goodput of its tuple minus that of the champion's, by the known curves after what was measured so
            far; None where they cannot tell.
        error: Standard error of that.
        failed: Whether the challenger gave no answer at all, which is none that a champion could agree with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    proposal: Proposal
    failed: bool = False
    expected: float | None = Field(default=None, allow_inf_nan=False)
    error: float | None = Field(default=None, ge=0.0, allow_inf_nan=False)


class Observation(BaseModel):
    """What the tuner is told when it is to decide.

    Attributes:
        at_s: Seconds since the tuner began, by a clock that never jumps.
        unix_s: The wall clock, by which hours of the day are told.
        in_force: The tuple as read from the server; None where it cannot be reached.
        reading: The window since the last decision; None where there is none to judge by.
        proposal: What a predictor would set, where it was asked.
        challenge: What another one would set, which is only watched; no decision rests on it.
        hindrances: Why nothing may be changed now.
        kill: Whether a person has thrown the kill switch.
        approved: The tuple that a person has approved, as text.
        unread_approval: Why what a person may have approved cannot be read; None where it can be, or there is nothing.
        restarted: Whether the server was started anew, so that its configuration file holds.
        refused: Why the server did not take the tuple that was decided on.
        overtaken: Whether that was not set at all, since somebody else had set a tuple by then.
        changed_by_others: Whether it was noticed that somebody else has set a tuple, be it one of the tuner's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    at_s: float
    unix_s: float
    in_force: PoolTuple | None
    reading: Reading | None = None
    proposal: Proposal | None = None
    challenge: Challenge | None = None
    hindrances: tuple[LoggedHindrance, ...] = ()
    kill: bool = False
    approved: str | None = None
    unread_approval: str | None = None
    restarted: bool = False
    refused: str | None = None
    overtaken: bool = False
    changed_by_others: bool = False
