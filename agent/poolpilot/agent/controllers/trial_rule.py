"""Try, observe again, keep the best: which tuple a predictor is tried with next, and which one it ends on."""

from collections.abc import Sequence

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor, ProbingPredictor
from poolpilot.models.observations.floor_limits import forbidden_by_floors

MOST_DECISIONS = 8
"""Trials that anything may ask for; the networks see the first window and the latest few of them."""


class TrialRule:
    """Decides between windows; who measures them, and for how long, is for others to say.

    Where the predictor names a tuple that has been measured, it probes, if the predictor can, or stops; it stops where
    the predictor abstains. It ends on the best tuple measured, whatever the predictor says: feasible before infeasible,
    then J.

    Args:
        predictor: What is asked; it sees all windows so far. None tries nothing.
        knobs: The knobs of the server and their ranges.
        objective: What counts.
        decisions: Candidates tried at most.
    """

    def __init__(self, predictor: Predictor | None, knobs: KnobSpace, objective: Objective, decisions: int = 1) -> None:
        self.predictions: list[Prediction] = []
        """What was predicted after each number of windows, the first after one."""
        self._predictor = predictor
        self._knobs = knobs
        self._objective = objective
        self._decisions = decisions

    def ask(self, windows: Sequence[Window]) -> Prediction:
        """Asks the predictor; asked again after as many windows, its new answer replaces the old one.

        Args:
            windows: The initial configuration's window, then one for each trial.

        Raises:
            SettingError: The limits allow no tuple.
        """
        assert self._predictor is not None, "nobody is to be asked"
        prediction = self._predictor.predict(windows, self._knobs, self._objective)
        self.predictions[len(windows) - 1 :] = [prediction]
        return prediction

    def may_decide(self, windows: Sequence[Window]) -> bool:
        """Whether a further tuple may be tried."""
        return self._predictor is not None and len(windows) <= self._decisions

    def named(self) -> PoolTuple | None:
        """What the latest answer names; None where the predictor abstained, or named what this server does not take."""
        prediction = self.predictions[-1]
        if prediction.abstained or not self._knobs.allows(prediction.pool_tuple):
            return None
        return prediction.pool_tuple

    def next_trial(self, windows: Sequence[Window]) -> PoolTuple | None:
        """The tuple to try after the latest answer; None ends the trials."""
        named = self.named()
        if named is None or not self.may_decide(windows):
            return None
        if named.core not in {window.pool_tuple.core for window in windows}:
            return named
        if not isinstance(self._predictor, ProbingPredictor):
            return None
        return self._predictor.probe(windows, self._knobs, self._objective)

    def best(self, windows: Sequence[Window]) -> Window:
        """The window of the tuple to end on."""
        return self._objective.best(windows)

    def forbidden(self, windows: Sequence[Window]) -> str | None:
        """What would have been better and breaks a floor, in words; None where nothing would."""
        return forbidden_by_floors(windows, self._objective)
