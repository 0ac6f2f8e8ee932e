"""What may be set where nobody knows better: the constant that was worth most where it was measured, with its worth.

Where none was measured it is the one that loses least under the known curves, and that is said.
"""

from collections.abc import Sequence

import numpy as np

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advice.reasons import percentage
from poolpilot.models.latent.placed_curves import PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.observations.disturbances import disturbances_of
from poolpilot.models.observations.floor_limits import near_first
from poolpilot.models.observations.used_up_quota import is_quota_used_up

NEUTRAL = (16, 3, 10)
NEAR = (4, 3, 10)
"""Where long statements are to keep their share, which the other breaks beside scans and analytics."""

MEASURED_CPUS = 2
"""Processors of the MariaDB servers that it was measured on."""

WORKLOADS = 66
GAIN_AND_LOSS = {NEUTRAL: (0.10, 0.20), NEAR: (0.05, 0.10)}
TRIED_MEDIAN_GAIN, TRIED_LARGEST_LOSS = 0.06, 0.05
"""Median gain in the short classes over the default, and the largest loss, of the constants and of what a warm start
ends on, on the workloads of the MariaDB suite that last, as they were read first (docs/results-suite.md); a test
compares them with its reports."""


def neutral_choice(
    prediction: Prediction, windows: Sequence[Window], limits: KnobSpace, objective: Objective, curves: ResponseCurves
) -> str | None:
    """The constant and its worth in a sentence.

    None where there is advice, where what was seen does not last, where a CPU quota is used up, where nobody knows of
    so many processors, and where no constant is better than what is in force.

    Args:
        prediction: What was answered.
        windows: What was seen, the latest under what is in force.
        limits: The knobs of the server and their ranges.
        objective: What counts; where long statements are to keep a share, a constant that is nearer is named.
        curves: The known response curves.
    """
    if not prediction.abstained or limits.processors is None or disturbances_of(windows):
        return None
    if is_quota_used_up(windows[-1]):
        return None
    latest = windows[-1]
    core = NEUTRAL if near_first(windows[0], objective) is None else NEAR
    constant = latest.pool_tuple.with_core(core)
    if latest.server_kind == "mariadb" and limits.processors == MEASURED_CPUS and limits.allows(constant):
        return None if constant.core == latest.pool_tuple.core else _measured(constant)
    return None if curves.beyond(limits) else _by_curves(windows, limits, objective, curves)


def _measured(constant: PoolTuple) -> str:
    gain, loss = GAIN_AND_LOSS[constant.core]
    return (
        f"{constant} over the default gained {gain:.0%} in the median of {WORKLOADS} workloads on "
        f"{MEASURED_CPUS} processors, several times as much beside long queries, and lost {loss:.0%} at most; "
        f"poolpilot climb --warm gained {TRIED_MEDIAN_GAIN:.0%} and lost {TRIED_LARGEST_LOSS:.0%} at most"
    ).replace("%", " %")


def _by_curves(
    windows: Sequence[Window], limits: KnobSpace, objective: Objective, curves: ResponseCurves
) -> str | None:
    """The constant of the least mean regret, every family alike, among those that have use and may keep all floors."""
    placed, in_force = PlacedCurves.on(curves, limits, objective), windows[-1].pool_tuple
    regrets = curves.prior @ placed.regrets
    usable = placed.usable(windows, limits)
    best, now = int(np.argmin(np.where(usable, regrets, np.inf))), placed.nearest(in_force)
    if not usable[best] or regrets[best] >= regrets[now]:
        return None
    constant = in_force.with_core(placed.tuples[best].core)
    processors = "1 processor" if limits.processors == 1 else f"{limits.processors} processors"
    return (
        f"{constant} loses least of all constants on {processors} under the {len(curves.curves)} known workloads, most "
        f"of them simulated: {percentage(regrets[best])} to the best in the mean, and {in_force} "
        f"{percentage(regrets[now])}"
    )
