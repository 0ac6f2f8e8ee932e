"""The most that any configuration can bring, told from one window: no promise may exceed it.

What the window waits for bounds completions (`Waiting`). Where classes have targets, requests come to be in time that
are late today: each must lose as much of its wait as it is late by, and all of them together no more than is waited.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from poolpilot.env.objective import Objective
from poolpilot.featurizer.histogram import MIDDLES
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.waiting import Waiting
from poolpilot.featurizer.window import ClassWindow, Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.observations.disturbances import disturbances_of, other_programs
from poolpilot.models.observations.used_up_quota import asks_for_more, used_up_quota

LEAST_GAIN = 0.05
"""Gain in ln goodput below which nothing is worth a change: what is bounded by less is left alone."""

NOT_COUNTED = (
    "this server does not count its connections, active threads and queue, so nothing bounds what can be gained: "
    "observe several times before you believe it"
)


@dataclass(frozen=True, slots=True)
class GainBound:
    """The most that can be gained over what is in force, in ln goodput, by the direction of the change.

    Attributes:
        waiting: What waits for what.
        by_more: With more groups or threads, or a shorter stall limit.
        by_fewer: With fewer of them, or a longer stall limit.
    """

    waiting: Waiting
    by_more: float
    by_fewer: float

    @classmethod
    def of(cls, window: Window, objective: Objective) -> Self | None:
        """The bound under an objective; None where the server does not count what it needs."""
        waiting = Waiting.of(window)
        if waiting is None:
            return None
        if objective.goes_by_time(window):
            return cls(waiting, waiting.most_in_time_by_threads, waiting.most_in_time_by_fewer)
        contending = math.inf if waiting.contending is None else waiting.contending
        return cls(
            waiting,
            waiting.most_by_threads + _rescued(window, objective, waiting.for_pool),
            waiting.most_by_fewer + _rescued(window, objective, waiting.for_pool + contending),
        )

    @property
    def most(self) -> float:
        """Whatever the change."""
        return max(self.by_more, self.by_fewer)

    def towards(self, in_force: PoolTuple, chosen: PoolTuple) -> float:
        """What a change from one tuple to another can bring at most; 0 where they are the same."""
        return most_towards(in_force, chosen, self.by_more, self.by_fewer)

    @property
    def reason(self) -> str:
        """What waits, as a sentence: why no more can be gained."""
        waiting = self.waiting
        said = f"of {waiting.connections:.0f} connections {waiting.for_pool:.1f} wait for the pool"
        return said if waiting.contending is None else f"{said}, {waiting.contending:.1f} for what another thread holds"


def most_towards(in_force: PoolTuple, chosen: PoolTuple, by_more: float, by_fewer: float) -> float:
    """The greater of two bounds, of those of the directions in which a tuple differs from the one in force."""
    (size, oversubscribe, timer), (to_size, to_oversubscribe, to_timer) = in_force.core, chosen.core
    more = to_size > size or to_oversubscribe > oversubscribe or to_timer < timer
    fewer = to_size < size or to_oversubscribe < oversubscribe or to_timer > timer
    return max(by_more if more else 0.0, by_fewer if fewer else 0.0)


def within_bound(
    prediction: Prediction, windows: Sequence[Window], objective: Objective, *, to_measure: bool = False
) -> Prediction:
    """A prediction that promises no more than waiting explains; to leave it where that is next to nothing.

    Args:
        prediction: What somebody predicts.
        windows: What it was predicted from; the latest is in force.
        objective: What counts.
        to_measure: Whether what is named will be measured, so that nobody need believe it.
    """
    latest = windows[-1]
    since_first = objective.value(latest) - objective.value(windows[0])
    futile = prediction.abstained or asks_for_more(prediction.pool_tuple, latest.pool_tuple)
    disturbed = bool(disturbances_of(windows))
    if (withheld := used_up_quota(latest)) is not None and futile and not disturbed:
        return _left_alone(prediction, withheld, since_first)
    bound = GainBound.of(latest, objective)
    if bound is None:
        unbounded = prediction.verdict == "change" and not to_measure
        return replace(prediction, reasons=(*prediction.reasons, NOT_COUNTED)) if unbounded else prediction
    told = replace(prediction, most_gain=bound.most if math.isfinite(bound.most) else None)
    if any(window.pool_tuple.core == prediction.pool_tuple.core for window in windows[:-1]):
        return told  # it was measured, and is no promise
    most = bound.most if prediction.keeps else bound.towards(latest.pool_tuple, prediction.pool_tuple)
    if prediction.verdict != "leave it" and most < LEAST_GAIN and not disturbed:
        return _left_alone(told, bound.reason, since_first)
    if futile and not to_measure and not disturbed and (busy := other_programs(latest)) is not None:
        return _no_advice(told, busy)
    return _capped(told, since_first + most + _price(prediction, objective), most)


def _left_alone(prediction: Prediction, reason: str, since_first: float) -> Prediction:
    return replace(
        prediction,
        pool_tuple=prediction.in_force,
        abstained=False,
        reasons=(reason,),
        expected_gain=since_first,
        gain_low=since_first,
        gain_high=since_first,
        improvement=None,
    )


def _no_advice(prediction: Prediction, reason: str) -> Prediction:
    return replace(
        prediction,
        pool_tuple=prediction.in_force,
        abstained=True,
        reasons=(reason,),
        expected_gain=None,
        gain_low=None,
        gain_high=None,
    )


def _capped(prediction: Prediction, most_gain: float, most: float) -> Prediction:
    """The same with every end of its interval, and what trying is expected to bring, within the bound."""

    def capped(value: float | None, highest: float) -> float | None:
        return None if value is None else min(value, highest)

    return replace(
        prediction,
        expected_gain=capped(prediction.expected_gain, most_gain),
        gain_low=capped(prediction.gain_low, most_gain),
        gain_high=capped(prediction.gain_high, most_gain),
        improvement=capped(prediction.improvement, -math.expm1(-most)),
    )


def _price(prediction: Prediction, objective: Objective) -> float:
    """What J counts for threads that are saved, beside the goodput that the bound is about."""
    return objective.price_of_thread * math.log(prediction.in_force.pool_size / prediction.pool_tuple.pool_size)


def _rescued(window: Window, objective: Objective, waiting: float) -> float:
    """The most by which ln worth rises as requests that are late come to be in time.

    Args:
        window: What was measured.
        objective: The targets.
        waiting: Connections that wait on average: as many seconds a second can be taken off late requests.
    """
    rescued_per_s = sum(
        objective.weights.get(name, 1.0) * _rescued_per_s(each, target_ms * 1e3, waiting, window.duration_s)
        for name, each in window.classes.items()
        if (target_ms := objective.targets_ms.get(name)) is not None
    )
    if rescued_per_s <= 0.0:
        return 0.0
    return math.log((objective.goodput_per_s(window) + rescued_per_s) / objective.worth_per_s(window))


def _rescued_per_s(each: ClassWindow, target_us: float, waiting: float, duration_s: float) -> float:
    """Late requests a second of a class that such a wait, taken off those that are least late, brings in time."""
    late = target_us < MIDDLES
    per_s = each.latency.counts[late] / duration_s
    late_s = (MIDDLES[late] - target_us) / 1e6
    spent = np.cumsum(per_s * late_s) - per_s * late_s
    affordable = np.clip((waiting - spent) / late_s, 0.0, per_s)
    return float(affordable.sum())
