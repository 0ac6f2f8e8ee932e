"""Every predictor as a controller: one observation, one answer, which is held."""

from poolpilot.agent.controllers.trial_rule import TrialRule
from poolpilot.env.controller import Controller, Trial
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor


class PredictorController(Controller):
    """Asks a predictor after a few windows and holds what it names until somebody else sets another tuple.

    Where the predictor abstains, or names a tuple outside the ranges, the tuple in force is held.

    Args:
        predictor: What is asked.
        knobs: The knobs of the server and their ranges.
        objective: What counts.
        windows: Windows of one tuple that it is shown.
        window_s: Seconds of such a window; None leaves that to the loop.

    Raises:
        SettingError: `windows` is less than 1.
    """

    def __init__(
        self,
        predictor: Predictor,
        knobs: KnobSpace,
        objective: Objective,
        windows: int = 1,
        window_s: float | None = None,
    ) -> None:
        if windows < 1:
            raise SettingError(f"windows is {windows}, but a predictor needs at least 1")
        self._rule = TrialRule(predictor, knobs, objective)
        self._wanted = windows
        self._window_s = window_s
        self._windows: list[Window] = []
        self._held: PoolTuple | None = None

    @property
    def prediction(self) -> Prediction | None:
        """The latest answer; None before the first."""
        return self._rule.predictions[-1] if self._rule.predictions else None

    def suggest(self) -> Trial:
        """What was predicted, once that is known; until then the tuple in force."""
        return Trial(self._held, self._window_s if self._held is None else None)

    def observe(self, window: Window) -> None:
        """Takes a window; asks once there are enough of them.

        Raises:
            SettingError: The limits allow no tuple, or the predictor cannot answer on this server.
        """
        in_force = window.pool_tuple
        if self._held is not None and in_force == self._held:
            return
        self._held = None
        if self._windows and self._windows[-1].pool_tuple != in_force:
            self._windows = []
        self._windows.append(window)
        if len(self._windows) < self._wanted:
            self.reason = f"{in_force} is observed: {len(self._windows)} of {self._wanted} windows"
            return
        self._held = self._named(in_force)
        self._windows = []

    def _named(self, in_force: PoolTuple) -> PoolTuple:
        prediction = self._rule.ask(self._windows)
        self.reason = prediction.reasons[0] if prediction.reasons else f"{prediction.pool_tuple} was predicted"
        named = self._rule.named()
        if named is None and not prediction.abstained:
            self.reason = f"{prediction.pool_tuple} was predicted, but is outside the ranges of this server"
        return named or in_force
