"""A predictor that is shown what `poolpilot advise` sees: the server's own counters, no latencies of clients."""

from collections.abc import Sequence

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor


class ServerView:
    """Hides the classes of windows from a predictor.

    Args:
        predictor: What is asked.
    """

    def __init__(self, predictor: Predictor) -> None:
        self._predictor = predictor

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`."""
        return self._predictor.predict([window.without_classes() for window in windows], limits, objective)
