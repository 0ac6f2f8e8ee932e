"""A portfolio: a few fixed configurations that are tried in turn, the best of which is kept.

Which ones is chosen on training sweeps, greedily: the first is the best alone, each further one takes most off the
regret that is left when the best of those before it is kept. The sum of these gains is submodular, so that greedy
choice reaches at least 1 - 1/e of what the best set of that size reaches (Nemhauser, Wolsey and Fisher, "An analysis of
approximations for maximizing submodular set functions", 1978; for portfolios of algorithms: Xu, Hoos and Leyton-Brown,
"Hydra: Automatically configuring algorithms for portfolio-based selection", AAAI 2010).
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.baselines.choice import advise
from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.latent.placed_curves import PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurves


class PortfolioSettings(BaseModel):
    """How large the portfolio is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    trials: int = Field(default=3, ge=1, le=8, description="Configurations in it.")


class Portfolio:
    """Names the next configuration that has not been measured yet; once all have been, the best measured one.

    As a predictor it does what a model does in the same hands: a refiner or a warm start that may decide as often as
    the portfolio is large tries all of it. It looks at no feature of a window.

    Args:
        tuples: The configurations, in the order in which they are tried.

    Raises:
        SettingError: There is none.
    """

    def __init__(self, tuples: Sequence[PoolTuple]) -> None:
        if not tuples:
            raise SettingError("a portfolio needs at least one configuration")
        self.tuples = tuple(tuples)

    @classmethod
    def fit(
        cls,
        sweeps: Sequence[WorkloadSweep],
        settings: PortfolioSettings | None = None,
        grid: ActionGrid = DEFAULT_GRID,
    ) -> Self:
        """Chooses configurations on training sweeps, counting the server's default as tried: it is in force at first.

        Raises:
            StoreError: There is no sweep.
        """
        wanted = settings or PortfolioSettings()
        encoded = EncodedSweeps.of(sweeps, grid)
        chosen = greedy(regrets_of(encoded), default_regrets(encoded), wanted.trials)
        return cls([grid.tuples[action] for action in chosen])

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`.

        Raises:
            SettingError: There is no window.
        """
        measured = {window.pool_tuple.core for window in windows}
        allowed = [pool_tuple for pool_tuple in self.tuples if limits.allows(pool_tuple)]
        untried = [pool_tuple for pool_tuple in allowed if pool_tuple.core not in measured]
        if untried:
            place = f"configuration {self.tuples.index(untried[0]) + 1} of the portfolio's {len(self.tuples)}"
            return advise(windows, untried[0].core, f"{untried[0]} is {place}, whatever the workload", "portfolio")
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the configuration in force first")
        best = objective.best(windows)
        reason = f"{best.pool_tuple} is the best of the {len(windows)} windows measured"
        return advise(windows, best.pool_tuple.core, reason, "portfolio")


def portfolio_on(curves: ResponseCurves, limits: KnobSpace, objective: Objective, trials: int) -> Portfolio:
    """The best portfolio for a server of those known response curves: chosen on the grid as it is placed there.

    Raises:
        SettingError: The server allows no configuration of the grid.
    """
    placed = PlacedCurves.on(curves, limits, objective)
    default = limits.default_tuple()
    in_force = [place for place, pool_tuple in enumerate(placed.tuples) if pool_tuple.core == default.core]
    least = placed.regrets[:, in_force[0]] if in_force else np.ones(len(placed.regrets))
    return Portfolio([placed.tuples[place] for place in greedy(placed.regrets, least, trials, curves.prior)])


def constant_on(curves: ResponseCurves, limits: KnobSpace, objective: Objective) -> PoolTuple:
    """The best constant for a server of those known response curves: the least mean regret, with nothing to go back to.

    Raises:
        SettingError: The server allows no configuration of the grid.
    """
    placed = PlacedCurves.on(curves, limits, objective)
    return placed.tuples[greedy(placed.regrets, np.ones(len(placed.regrets)), 1, curves.prior)[0]]


def regrets_of(encoded: EncodedSweeps) -> NDArray[np.float64]:
    """Regret of every tuple under every sweep, (S, A); 1 where the sweep's server does not allow it."""
    return np.where(encoded.allowed > 0.0, encoded.regret, 1.0).astype(np.float64)


def default_regrets(encoded: EncodedSweeps) -> NDArray[np.float64]:
    """Regret of the default tuple of each sweep's server, (S,)."""
    return np.array([max(sweep.regret(sweep.limits.default_tuple()), 0.0) for sweep in encoded.sweeps])


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
