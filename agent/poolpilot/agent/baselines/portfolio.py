"""A portfolio: a few fixed configurations (`models/latent/constants.py`), tried in turn, the best of which is kept."""

from collections.abc import Sequence

from poolpilot.agent.baselines.choice import advise
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.latent.constants import constants_on
from poolpilot.models.latent.response_curves import ResponseCurves


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
