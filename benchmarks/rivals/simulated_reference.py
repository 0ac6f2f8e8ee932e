"""The reference of a simulated workload, and whether it repeats; what methods choose has no say in either."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.pipelines.evaluate.censored_sweeps import Level, unrepeated, unsteady
from rivals.scenarios import CHECKED, JUDGED, SHOWN, ScenarioWindows

FINALISTS = 8
"""Tuples that are measured a second time to find the reference, and a third time to see whether it repeats."""


class Reference(NamedTuple):
    """The best of the grid.

    Attributes:
        best: The tuple.
        reason: Why no choice can be judged by it; None where one can.
    """

    best: PoolTuple
    reason: str | None


def reference_of(windows: ScenarioWindows, curves: ResponseCurves) -> Reference:
    """The best of the grid: by a window of each, and for the best few by one more; these are then measured afresh."""
    tuples = [*curves.grid.on(windows.limits).tuples, windows.limits.default_tuple()]
    value = windows.objective.value
    shown = windows.of(SHOWN, tuples)
    finalists = sorted(shown, key=lambda one: value(shown[one]), reverse=True)[:FINALISTS]
    checked, judged = windows.of(CHECKED, finalists), windows.of(JUDGED, finalists)
    values = {one: (value(shown[one]), value(checked[one]), value(judged[one])) for one in finalists}
    best = max(values, key=lambda one: values[one][0] + values[one][1])
    return Reference(best, reason_of(best, values))


def reason_of(best: PoolTuple, values: Mapping[PoolTuple, tuple[float, float, float]]) -> str | None:
    """Why a workload is left out; the rule of `poolpilot evaluate` on J of the finalists' three windows."""
    noise = noise_of(list(values.values()))
    first, checked, afresh = values[best]
    again = {one: (second + third) / 2.0 for one, (_, second, third) in values.items() if one != best}
    rival = max(again, key=lambda one: again[one])
    rivals = [(rival.core, Level(again[rival], 2))]
    return unsteady(noise) or unrepeated(noise, Level((first + checked) / 2.0, 2), Level(afresh, 1), rivals)


def noise_of(values: Sequence[tuple[float, float, float]]) -> float:
    """Standard deviation of J of one window: by the second and third of each, since by the first they were chosen."""
    differences = np.array([second - third for _, second, third in values])
    return float(np.sqrt(np.mean(np.square(differences)) / 2.0))
