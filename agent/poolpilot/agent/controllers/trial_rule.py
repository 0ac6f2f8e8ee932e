"""Try, look again, keep the better: which tuple a predictor is tried with next, and which one it ends on."""

import math
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction, Predictor, ProbingPredictor

MOST_DECISIONS = 8
"""Trials that anything may ask for; the networks see the first window and the latest few of them."""


class TrialSettings(BaseModel):
    """How often a predictor may decide, and what speaks against its last word."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    returning_change: float = Field(
        default=1.0, ge=0.0, description="Standard errors an earlier tuple must be better by for it to be set again."
    )
    decisions: int = Field(
        default=3,
        ge=1,
        le=MOST_DECISIONS,
        description="Tuples tried at most; one-shot first, later ones refine it, or probe where the model is done.",
    )
    confirmed_gain: float = Field(
        default=0.5,
        ge=0.0,
        description="Gain in ln J over the first tuple beyond which only its neighbours are probed,",
    )
    confirmed_shortfall: float = Field(
        default=0.1, description="unless the model had promised so much more, in ln J, than was measured."
    )


class TrialRule:
    """Decides between windows; who measures them, and for how long, is for others to say.

    Where the predictor names a tuple that has been measured, it probes, if the predictor can, or stops; it stops where
    the predictor abstains. It ends on the tuple that the predictor named last among those measured, unless another was
    clearly better: feasible before infeasible, then J.

    Args:
        predictor: What is asked; it sees all windows so far.
        knobs: The knobs of the server and their ranges.
        objective: What counts.
        settings: How often it decides.
    """

    def __init__(
        self, predictor: Predictor, knobs: KnobSpace, objective: Objective, settings: TrialSettings | None = None
    ) -> None:
        self.predictions: list[Prediction] = []
        """What was predicted after each number of windows, the first after one."""
        self._predictor = predictor
        self._knobs = knobs
        self._objective = objective
        self._settings = settings or TrialSettings()

    def ask(self, windows: Sequence[Window]) -> Prediction:
        """Asks the predictor; asked again after as many windows, its new answer replaces the old one.

        Args:
            windows: The first tuple's window, then one for each trial.

        Raises:
            SettingError: The limits allow no tuple.
        """
        prediction = self._predictor.predict(windows, self._knobs, self._objective)
        self.predictions[len(windows) - 1 :] = [prediction]
        return prediction

    def named(self) -> PoolTuple | None:
        """What the latest answer names; None where the predictor abstained, or named what this server does not take."""
        prediction = self.predictions[-1]
        if prediction.abstained or not self._knobs.allows(prediction.pool_tuple):
            return None
        return prediction.pool_tuple

    def next_trial(self, windows: Sequence[Window]) -> PoolTuple | None:
        """The tuple to try after the latest answer; None ends the trials."""
        named = self.named()
        if named is None or len(windows) > self._settings.decisions:
            return None
        measured = {window.pool_tuple.core: window for window in windows}.get(named.core)
        if measured is None:
            return named
        if not isinstance(self._predictor, ProbingPredictor):
            return None
        gain = self._objective.value(measured) - self._objective.value(windows[0])
        near = measured.pool_tuple if self._is_confirmed(gain, measured.pool_tuple) else None
        return self._predictor.probe(windows, self._knobs, self._objective, near)

    def best(self, windows: Sequence[Window]) -> Window:
        """The window of the tuple to end on."""
        first = windows[0]
        best = max(windows, key=lambda window: (self._objective.feasible(window, first), self._objective.value(window)))
        by_core = {window.pool_tuple.core: window for window in windows}
        named = [told.pool_tuple.core for told in self.predictions if told.pool_tuple.core in by_core]
        if self._settings.returning_change == 0.0 or not named:
            return best
        preferred = by_core[named[-1]]
        if self._objective.feasible(best, first) and not self._objective.feasible(preferred, first):
            return best
        return best if self.standard_errors(preferred, best) >= self._settings.returning_change else preferred

    def standard_errors(self, first: Window, second: Window) -> float:
        """Difference of J between two windows in its standard errors by counting."""
        error = math.hypot(self._objective.error(first), self._objective.error(second))
        return abs(self._objective.value(second) - self._objective.value(first)) / error

    def _is_confirmed(self, gain: float, pool_tuple: PoolTuple) -> bool:
        promised = [told.expected_gain for told in self.predictions if told.pool_tuple.core == pool_tuple.core]
        shortfall = (promised[0] or 0.0) - gain
        return gain > self._settings.confirmed_gain and shortfall < self._settings.confirmed_shortfall
