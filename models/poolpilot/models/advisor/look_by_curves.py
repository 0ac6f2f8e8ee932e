"""One observation, one answer: what known curves like a server's windows would advise, and how sure that is."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.knobs import UNKNOWN_CPUS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.gain_bound import GainBound, within_bound
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advice.reasons import percent, percentage, reasons_for
from poolpilot.models.latent.belief import MODEL_ERROR, Belief
from poolpilot.models.latent.likeness import LikenessSettings, curves_like, prior_by_distance, squared_distances
from poolpilot.models.latent.placed_curves import PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.observations.disturbances import disturbances_of

LIKENESS = LikenessSettings(bandwidth=0.2, fewest=10.0)
"""How far what windows look like counts."""

MAX_LOSS = 0.05
"""Loss in ln J over what is in force that the interval of a change may hold."""

MIN_GAIN = 0.03
"""Gain in ln J from which a change is advised."""

MAX_REGRET = 0.05
"""Regret that what is in force may be expected to have where it is to stay."""

MOST_UNLIKE = 0.5
"""Mean squared distance, in spreads, up to which a workload counts as known."""

INTERVAL = 0.9
"""Share of the belief that intervals hold."""


class Weighed(NamedTuple):
    """The configuration of the least expected regret beside the one in force.

    Attributes:
        pool_tuple: That configuration.
        gain: Its expected gain in ln J over the one in force.
        low: Lower end of the gain's interval.
        high: Upper end of it.
        regret: Its expected regret: what is expected to be lost to the best, whichever that is.
        staying: The same of what is in force.
        over_first: Gain of the configuration over the first window's, with its interval.
        staying_over_first: Gain of what is in force over the first window's, with its interval.
    """

    pool_tuple: PoolTuple
    gain: float
    low: float
    high: float
    regret: float
    staying: float
    over_first: tuple[float, float, float]
    staying_over_first: tuple[float, float, float]


def look_by_curves(
    curves: ResponseCurves, windows: Sequence[Window], limits: KnobSpace, objective: Objective
) -> Prediction:
    """Names the configuration of the least expected regret, where the interval of its gain holds no clear loss.

    It advises to leave things alone only where little is expected to be lost by that. Else it abstains, and says what
    promised most: then only trying tells. Where the processors of the server are not known it abstains.

    Args:
        curves: The known response curves.
        windows: What was measured.
        limits: The knobs of the server and their ranges.
        objective: What counts.
    """
    latest = windows[-1]
    if limits.processors is None:
        said = _answer(latest, (UNKNOWN_CPUS,))
    elif disturbed := disturbances_of(windows):
        said = _answer(latest, disturbed)
    else:
        said = _by_likeness(curves, windows, limits, objective)
    return within_bound(replace(said, model_digest=curves.digest), windows, objective)


def _by_likeness(
    known: ResponseCurves, windows: Sequence[Window], limits: KnobSpace, objective: Objective
) -> Prediction:
    latest, curves = windows[-1], curves_like(known, windows)
    distances = squared_distances(curves, windows, limits)
    weighed = _weighed(curves, windows, distances, limits, objective)
    unknown = _unknown(known, distances, limits)
    is_change = weighed.gain >= MIN_GAIN and weighed.low >= -MAX_LOSS
    if unknown or not (is_change or weighed.staying <= MAX_REGRET):
        most = GainBound.of(latest, objective)
        unsure = _unsure(weighed, latest.pool_tuple, math.inf if most is None else most.most)
        return _answer(latest, (*unknown, unsure))
    if is_change:
        return _answer(latest, reasons_for(latest, weighed.pool_tuple), weighed.over_first, weighed.pool_tuple)
    reason = f"{latest.pool_tuple} is expected to lose {weighed.staying:.1%} to the best, whichever that is"
    return _answer(latest, (reason,), weighed.staying_over_first)


def _weighed(
    curves: ResponseCurves,
    windows: Sequence[Window],
    distances: NDArray[np.float64],
    limits: KnobSpace,
    objective: Objective,
) -> Weighed:
    placed = PlacedCurves.on(curves, limits, objective)
    prior = prior_by_distance(curves, distances, LIKENESS)
    belief = Belief(placed.values, prior, placed.answers(windows), MODEL_ERROR)
    in_force = placed.nearest(windows[-1].pool_tuple)
    expected = belief.weights @ placed.regrets
    usable = placed.usable(windows, limits)
    usable[in_force] = True
    best = int(np.argmin(np.where(usable, expected, np.inf)))
    gain, low, high = belief.gain(best, INTERVAL, in_force)
    return Weighed(
        windows[-1].pool_tuple.with_core(placed.tuples[best].core),
        gain,
        low,
        high,
        float(expected[best]),
        float(expected[in_force]),
        belief.gain(best, INTERVAL) if len(windows) > 1 else (gain, low, high),
        belief.gain(in_force, INTERVAL),
    )


def _unknown(curves: ResponseCurves, distances: NDArray[np.float64], limits: KnobSpace) -> tuple[str, ...]:
    """Why the library says nothing of this server, as sentences."""
    said = list(curves.beyond(limits))
    nearest = float(distances.min())
    if math.isinf(nearest):
        said.append(
            "nothing that this server shows was kept of any known workload, so that nobody knows which of them it is "
            "like"
        )
    elif nearest > MOST_UNLIKE:
        said.append(
            f"the workload is unlike all {len(curves.curves)} known ones (distance {nearest:.2f}, known up to "
            f"{MOST_UNLIKE:g})"
        )
    return tuple(said)


def _answer(
    latest: Window,
    reasons: tuple[str, ...],
    gain: tuple[float, float, float] | None = None,
    named: PoolTuple | None = None,
) -> Prediction:
    """An answer that names a tuple, or what is in force; without a gain nobody knows."""
    expected, low, high = gain or (None, None, None)
    in_force = latest.pool_tuple
    return Prediction(named or in_force, in_force, gain is None, reasons, "", expected, low, high)


def _unsure(weighed: Weighed, in_force: PoolTuple, most_gain: float) -> str:
    most_lost = -math.expm1(-most_gain)
    loses = f"is expected to lose {percentage(min(weighed.staying, most_lost))} to the best, whichever that is"
    if weighed.pool_tuple.core == in_force.core:
        return f"{in_force} promises most of all, but {loses}: only trying tells"
    return (
        f"{in_force} {loses}; {weighed.pool_tuple} {percentage(weighed.regret)}, but that is between "
        f"{percent(weighed.low)} and {percent(weighed.high)} over what is in force: only trying it tells"
    )
