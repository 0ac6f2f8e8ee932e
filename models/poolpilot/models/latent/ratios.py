"""Ratios of a window: a dozen numbers that mean the same on any machine, to tell which known workload it is like.

They are features put on scales on which a difference of one is large everywhere: what spans decades is a logarithm,
what counts threads is for each processor. A server that does not show what a ratio needs has none; distances are taken
over the ratios that both sides have.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST = 4.0
"""Largest value of a ratio that has no upper end of its own."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A feature, perhaps over another one, on its scale.

    Attributes:
        name: Its name in files and tables.
        feature: The feature.
        over: The feature that it is divided by; None if it is not.
        scale: Puts the quotient on its scale.
    """

    name: str
    feature: str
    over: str | None
    scale: Callable[[float], float]

    def of(self, features: Mapping[str, float | None]) -> float | None:
        """The value for features in natural units; None where it is missing."""
        value = features.get(self.feature)
        if self.over is not None:
            divisor = features.get(self.over)
            value = None if value is None or not divisor else value / divisor
        return None if value is None else self.scale(value)


def _as_it_is(value: float) -> float:
    return min(value, MOST)


def _decades(value: float) -> float:
    return math.log(max(value, 0.01))


RATIOS = (
    Ratio("connections", "connections", None, _decades),
    Ratio("connections_per_cpu", "connections_per_cpu", None, _decades),
    Ratio("utilisation", "utilisation", None, _as_it_is),
    Ratio("cpu_share_of_round", "cpu_share_of_round", None, _as_it_is),
    Ratio("run_delay_share_of_round", "run_delay_share_of_round", None, _as_it_is),
    Ratio("latch_waits_per_request", "latch_waits_per_request", None, _as_it_is),
    Ratio("active_round_cv", "active_round_us_cv", None, _as_it_is),
    Ratio("queue_share", "queue_share", None, _as_it_is),
    Ratio("think_share", "think_share", None, _as_it_is),
    Ratio("threads_per_cpu", "threads_mean", "cpus", math.log1p),
    Ratio("active_per_cpu", "active_threads_mean", "cpus", math.log1p),
    Ratio("queued_per_cpu", "queue_length_mean", "cpus", math.log1p),
    Ratio("in_system_per_cpu", "in_system", "cpus", _decades),
)
"""Every ratio, in the order of the vector."""


FEATURES_OF_RATIOS = frozenset(name for ratio in RATIOS for name in (ratio.feature, ratio.over) if name is not None)
"""The features that some ratio is made of."""


def ratio_names() -> tuple[str, ...]:
    """Names of all ratios in the order of the vector."""
    return tuple(ratio.name for ratio in RATIOS)


def ratios_of(features: Mapping[str, float | None]) -> NDArray[np.float64]:
    """All ratios of a window's features, NaN where missing, (len(RATIOS),).

    Examples:
        >>> ratios_of({"utilisation": 0.5, "threads_mean": 4.0, "cpus": 2.0}).round(3)[[2, 9, 12]].tolist()
        [0.5, 1.099, nan]
    """
    return np.array([value if (value := ratio.of(features)) is not None else np.nan for ratio in RATIOS])
