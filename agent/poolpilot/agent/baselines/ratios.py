"""Ratios of a window: dimensionless numbers that mean the same on any machine."""

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window

Features = Mapping[str, float | None]


def _share(name: str) -> Callable[[Features], float | None]:
    return lambda features: features[name]


def _log(name: str) -> Callable[[Features], float | None]:
    return lambda features: None if (value := features[name]) is None else math.log1p(value)


def _log_quotient(name: str, divisor: str) -> Callable[[Features], float | None]:
    def of(features: Features) -> float | None:
        value, by = features[name], features[divisor]
        return None if value is None or not by else math.log1p(value / by)

    return of


RATIOS: Mapping[str, Callable[[Features], float | None]] = {
    "utilisation": _share("utilisation"),
    "silent_wait_share": _share("silent_wait_share"),
    "run_delay_share": _share("run_delay_share_of_round"),
    "queue_share": _share("queue_share"),
    "think_share": _share("think_share"),
    "log_wait_to_cpu": _log("wait_to_cpu"),
    "log_waits_per_request": _log("waits_per_request"),
    "log_connections_per_cpu": _log("connections_per_cpu"),
    "log_round_p95_to_mean": _log("active_round_p95_to_mean"),
    "log_latch_wait_to_cpu": _log_quotient("latch_wait_us_per_request", "thread_cpu_us_per_request"),
    "in_system_to_connections": _log_quotient("in_system", "connections"),
}
"""Each by name, from the features of a window; what spans orders of magnitude as log(1 + ratio)."""

RATIO_NAMES = (*RATIOS, "within_target")


def ratios_of(window: Window, objective: Objective) -> NDArray[np.float64]:
    """The ratios of a window, in the order of `RATIO_NAMES`, NaN where its server does not tell one, (R,).

    Args:
        window: The window.
        objective: What counts; the share of requests within their targets is the last ratio.
    """
    features = window.profile.features
    found = [of(features) for of in RATIOS.values()]
    values = [*found, objective.share_within_target(window)]
    return np.array([np.nan if value is None else value for value in values])
