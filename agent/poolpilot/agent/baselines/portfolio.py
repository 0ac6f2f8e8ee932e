"""A portfolio: a few fixed configurations that are tried in turn, the best of which is kept.

Which ones is chosen on training sweeps, greedily (`models/latent/constants.py`).
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
from poolpilot.models.latent.constants import constants_on, greedy
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
    return Portfolio(constants_on(curves, limits, objective, trials))


def regrets_of(encoded: EncodedSweeps) -> NDArray[np.float64]:
    """Regret of every tuple under every sweep, (S, A); 1 where the sweep's server does not allow it."""
    return np.where(encoded.allowed > 0.0, encoded.regret, 1.0).astype(np.float64)


def default_regrets(encoded: EncodedSweeps) -> NDArray[np.float64]:
    """Regret of the default tuple of each sweep's server, (S,)."""
    return np.array([max(sweep.regret(sweep.limits.default_tuple()), 0.0) for sweep in encoded.sweeps])
