"""Constants for a server: the one that loses least under the known curves, or a portfolio of a few to try in turn.

A portfolio is chosen greedily: the first is the best alone, each further one takes most off the regret that is left
when the best of those before it is kept. The sum of these gains is submodular, so that greedy choice reaches at least
1 - 1/e of what the best set of that size reaches (Nemhauser, Wolsey and Fisher, "An analysis of approximations for
maximizing submodular set functions", 1978; for portfolios of algorithms: Xu, Hoos and Leyton-Brown, "Hydra:
Automatically configuring algorithms for portfolio-based selection", AAAI 2010).
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.gain_bound import within_bound
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.latent.belief import regrets_of_values
from poolpilot.models.latent.placed_curves import PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.observations.disturbances import disturbances_of
from poolpilot.models.observations.floor_limits import forbidden_by_floors, may_be_named

FALLBACK = 3
"""Constants that are tried where nothing is known of a server; docs/results-evaluation.md says how well they do."""


def constant_on(curves: ResponseCurves, limits: KnobSpace, objective: Objective) -> PoolTuple:
    """The best constant for a server of those known response curves: the least mean regret, with nothing to go back to.

    Raises:
        SettingError: The server allows no configuration of the grid.
    """
    placed = PlacedCurves.on(curves, limits, objective)
    return placed.tuples[greedy(placed.regrets, np.ones(len(placed.regrets)), 1, curves.prior)[0]]


def constants_on(curves: ResponseCurves, limits: KnobSpace, objective: Objective, trials: int) -> list[PoolTuple]:
    """The best portfolio for a server of those known response curves: chosen on the grid as it is placed there.

    Raises:
        SettingError: The server allows no configuration of the grid.
    """
    placed = PlacedCurves.on(curves, limits, objective)
    default = limits.default_tuple()
    in_force = [place for place, pool_tuple in enumerate(placed.tuples) if pool_tuple.core == default.core]
    least = placed.regrets[:, in_force[0]] if in_force else np.ones(len(placed.regrets))
    return [placed.tuples[place] for place in greedy(placed.regrets, least, trials, curves.prior)]


def next_constant(
    curves: ResponseCurves, windows: Sequence[Window], limits: KnobSpace, objective: Objective
) -> Prediction | None:
    """What is tried next where nobody knows a server, then the best measured; None where nothing may be tried."""
    named, in_force = constants_anywhere(curves, objective), windows[-1].pool_tuple
    may = may_be_named(named, windows, limits, objective)
    measured = {window.pool_tuple.core for window in windows}
    allowed = [one for one, kept in zip(named, may, strict=True) if kept and limits.allows(one)]
    left = [one for one in allowed if one.core not in measured]
    if disturbances_of(windows) or not (left or windows[1:]):
        return None
    if left:
        known = f"is one of {len(named)} constants that lose least over all known workloads"
        tried = f"{left[0]} {known}, and nothing is known of this server"
        constant = Prediction(in_force.with_core(left[0].core), in_force, False, (tried,), curves.digest)
        return within_bound(constant, windows, objective, to_measure=True)
    best, forbidden = objective.best(windows), forbidden_by_floors(windows, objective)
    gain = objective.value(best) - objective.value(windows[0])
    reasons = (f"{best.pool_tuple} is the best of {len(windows)} measured", *([] if forbidden is None else [forbidden]))
    return Prediction(best.pool_tuple, in_force, False, reasons, curves.digest, gain, gain, gain)


def constants_anywhere(curves: ResponseCurves, objective: Objective) -> list[PoolTuple]:
    """The best portfolio on machines of any number of processors: of sizes that are the same on all of them."""
    grid = curves.grid
    cpus = np.array([curve.cpus for curve in curves.curves])[:, None]
    sizes = np.hstack([np.tile(np.array(grid.sizes), (len(cpus), 1)), cpus * np.array(grid.multiples)[None]])
    beside = len(grid.oversubscribes) * len(grid.timer_intervals_ms)
    worth = curves.log_worth - objective.price_of_thread * np.log(np.repeat(sizes, beside, axis=1))
    named = [PoolTuple(*core) for core in product(grid.sizes, grid.oversubscribes, grid.timer_intervals_ms)]
    regrets = regrets_of_values(worth)[:, : len(named)]
    chosen = greedy(regrets, np.ones(len(regrets)), FALLBACK, curves.prior) if named else []
    return [named[place] for place in chosen]


def greedy(
    regrets: NDArray[np.float64], in_force: NDArray[np.float64], trials: int, weights: NDArray[np.float64] | None = None
) -> list[int]:
    """Columns that, each added to those before it, take most off the mean of the least regret in every row.

    Args:
        regrets: Regret of each of A columns for each of S rows, (S, A).
        in_force: Regret of what is kept where no column is better, (S,).
        trials: Columns to choose; fewer are returned where a further one would take nothing off.
        weights: Weight of each row, (S,); all weigh the same if None.
    """
    chosen: list[int] = []
    least = in_force
    for _ in range(trials):
        after = np.average(np.minimum(regrets, least[:, None]), axis=0, weights=weights)
        best = int(np.argmin(after))
        if chosen and after[best] >= np.average(least, weights=weights):
            break
        chosen.append(best)
        least = np.minimum(least, regrets[:, best])
    return chosen
