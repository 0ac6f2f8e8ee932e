"""The baselines that look at nothing: the tuple of an untouched server, or one fixed tuple."""

from collections.abc import Sequence

from poolpilot.agent.baselines.choice import advise
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction


class DefaultPredictor:
    """Names the tuple of an untouched server."""

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        """Names a tuple; see `Predictor.predict`."""
        default = limits.default_tuple()
        return advise(windows, default.core, f"{default} is the default of this server", "default")


class StaticPredictor:
    """Names one fixed tuple whatever it sees.

    Args:
        pool_tuple: The tuple.
    """

    def __init__(self, pool_tuple: PoolTuple) -> None:
        self.pool_tuple = pool_tuple

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:  # noqa: ARG002
        """Names a tuple; see `Predictor.predict`.

        Raises:
            SettingError: There is no window, or the limits forbid the tuple.
        """
        limits.check(self.pool_tuple)
        return advise(windows, self.pool_tuple.core, f"{self.pool_tuple} is set for every workload", "static")
