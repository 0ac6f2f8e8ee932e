"""Advice that is followed ends: no step leads back to what was left, and after two steps only trying tells.

Looks under different configurations need not agree: under few groups requests queue, under many they collide. Who
remembers what was seen on the way (`windows`) is never led in a circle.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advice.reasons import percent

MOST_STEPS = 2
"""Steps that are advised one after the other."""

AS_GOOD = math.log(1.05)
"""A difference of ln goodput between two looks up to which they did alike."""


def without_circle(prediction: Prediction, windows: Sequence[Window], objective: Objective) -> Prediction:
    """The prediction, if it is no return; else to leave it, or no advice where what was left did better.

    Args:
        prediction: What somebody predicts after several looks.
        windows: What was seen on the way, oldest first; the latest is in force.
        objective: What counts.
    """
    latest = windows[-1]
    left = {each.pool_tuple.core: each for each in windows[:-1] if each.pool_tuple.core != latest.pool_tuple.core}
    if prediction.verdict != "change":
        return prediction
    if (before := left.get(prediction.pool_tuple.core)) is not None:
        gain = objective.value(before) - objective.value(latest)
        compared = f"{before.pool_tuple} was left for {latest.pool_tuple}"
        if gain <= AS_GOOD:
            return _stays(prediction, f"{compared}, which does as well", abstained=False)
        return _stays(prediction, f"{compared} and did better, {percent(gain)}: only trying both in turn tells")
    if len(left) < MOST_STEPS:
        return prediction
    return _stays(prediction, f"{len(left)} steps led here and observations still disagree: only a trial tells")


def _stays(prediction: Prediction, reason: str, *, abstained: bool = True) -> Prediction:
    return replace(
        prediction,
        pool_tuple=prediction.in_force,
        abstained=abstained,
        reasons=(reason,),
        expected_gain=None,
        gain_low=None,
        gain_high=None,
        improvement=None,
    )
