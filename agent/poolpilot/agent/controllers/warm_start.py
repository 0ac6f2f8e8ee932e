"""The warm start: look, predict, set, look again, then let the climber hold and watch."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.climbing.climb import ClimbController, ClimbStep, ClimbTrace, run_climb
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.objective import Objective
from poolpilot.env.observation import ENTRIES
from poolpilot.env.server import AnyServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction, ProbingPredictor
from poolpilot.native_pool import SpectralClimber, SpectralSettings


class WarmStartSettings(BaseModel):
    """How long a predictor looks and how often it may decide.

    It glances first: where the gain that the model promises, or the change that a new tuple has brought, is far beyond
    the noise of so short a window, it goes on at once, since every moment under a bad tuple costs; else it looks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    settle_s: float = Field(default=0.05, ge=0.0, description="Seconds after a change that are not looked at.")
    glance_s: float = Field(default=0.1, gt=0.0, description="Length of the first window looked at, in seconds.")
    decisive_promise: float = Field(
        default=0.15, ge=0.0, description="Gain in ln J that the model must promise for the first glance to be enough."
    )
    decisive_change: float = Field(
        default=2.0, ge=0.0, description="Standard errors a new tuple must have changed J by for a glance to be enough."
    )
    look_s: float = Field(default=0.3, gt=0.0, description="Length of the window that follows where it is not.")
    returning_change: float = Field(
        default=1.0, ge=0.0, description="Standard errors an earlier tuple must be better by for it to be set again."
    )
    decisions: int = Field(
        default=3,
        ge=1,
        le=ENTRIES - 1,
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


MARIADB_WARM_START = WarmStartSettings(settle_s=0.4, glance_s=0.8, look_s=2.0)
"""For MariaDB, which settles and counts more slowly than the embedded pool: three tuples within ten seconds."""


@dataclass
class WarmStart:
    """One run from the workload's first second: the predictions, then a warm climb (a cold one if it abstains).

    Attributes:
        server: The server under load.
        predictor: What is asked.
        objective: What counts.
        settings: How it looks.
        climb: How the climb that follows samples.
        on_step: Called after every window, for a live screen.
        on_climber: Called with the climber once it takes over from the predictor, for whoever shows what it decides.
        many_knobs: Makes what climbs from the tuple chosen, instead of a warm climber of the size.
        steps: All windows so far, those that settle included: users feel them too.
        predictions: What the predictor said, in order.
    """

    server: AnyServer
    predictor: ProbingPredictor
    objective: Objective
    settings: WarmStartSettings
    climb: ClimbSettings | SpectralSettings
    on_step: Callable[[ClimbStep], None] | None = None
    on_climber: Callable[[SpectralClimber], None] | None = None
    many_knobs: Callable[[PoolTuple], KnobClimbController] | None = None
    steps: list[ClimbStep] = field(default_factory=list)
    predictions: list[Prediction] = field(default_factory=list)

    def run(self, horizon_s: float) -> ClimbTrace:
        """Looks, decides and climbs until the horizon.

        Raises:
            SettingError: The server's limits allow no tuple.
            ServerError: The server stopped.
        """
        in_force = self.server.apply(self._decide().pool_tuple)
        controller = self.many_knobs(in_force) if self.many_knobs else self._of_size(in_force)
        begun_s = self._now_s
        run_climb(
            self.server,
            controller,
            controller.period_s,
            horizon_s - begun_s,
            self.objective,
            lambda step: self._add(step, begun_s + step.end_s),
        )
        return ClimbTrace(tuple(self.steps))

    def _of_size(self, in_force: PoolTuple) -> ClimbController:
        warm = not self.predictions[-1].abstained
        climber = spectral_climber(self.climb, self.server.knobs, in_force.pool_size, warm=warm)
        if self.on_climber is not None:
            self.on_climber(climber)
        return ClimbController(climber, in_force, self.objective)

    def _decide(self) -> Window:
        """Tries a tuple after each look and returns the window of the one to stay with."""
        looked = [self._glance()]
        prediction = self._ask(looked)
        if not self._is_decisive(prediction):
            looked = [self._observe(self.settings.look_s)]
            prediction = self._ask(looked)
        self.predictions.append(prediction)
        for _ in range(self.settings.decisions):
            trial = None if prediction.abstained else self._trial(prediction, looked)
            if trial is None:
                break
            self.server.apply(trial)
            looked.append(self._look_at_change(looked))
            prediction = self._ask(looked)
            self.predictions.append(prediction)
        return self._chosen(looked)

    def _trial(self, prediction: Prediction, looked: list[Window]) -> PoolTuple | None:
        """The tuple predicted; where that has been measured a probe, near it if it has kept its promise."""
        by_core = {window.pool_tuple.core: window for window in looked}
        named = by_core.get(prediction.pool_tuple.core)
        if named is None:
            return prediction.pool_tuple
        confirmed = self._is_confirmed(self.objective.value(named) - self.objective.value(looked[0]), named.pool_tuple)
        near = named.pool_tuple if confirmed else None
        return self.predictor.probe(looked, self.server.knobs, self.objective, near)

    def _is_confirmed(self, gain: float, pool_tuple: PoolTuple) -> bool:
        promised = [one.expected_gain for one in self.predictions if one.pool_tuple.core == pool_tuple.core]
        shortfall = (promised[0] or 0.0) - gain
        return gain > self.settings.confirmed_gain and shortfall < self.settings.confirmed_shortfall

    def _ask(self, looked: list[Window]) -> Prediction:
        return self.predictor.predict(looked, self.server.knobs, self.objective)

    def _is_decisive(self, prediction: Prediction) -> bool:
        return not prediction.abstained and (prediction.expected_gain or 0.0) >= self.settings.decisive_promise

    def _look_at_change(self, looked: list[Window]) -> Window:
        """A glance if the tuple in force has changed J much since the first window and since the latest."""
        glance = self._glance()
        changes = (self._standard_errors(before, glance) for before in (looked[0], looked[-1]))
        return glance if min(changes) >= self.settings.decisive_change else self._observe(self.settings.look_s)

    def _glance(self) -> Window:
        if self.settings.settle_s > 0.0:
            self._observe(self.settings.settle_s)
        return self._observe(self.settings.glance_s)

    def _chosen(self, looked: list[Window]) -> Window:
        """The tuple that the model named last among those measured, unless another was clearly better."""
        by_core = {window.pool_tuple.core: window for window in looked}
        named = [one.pool_tuple.core for one in self.predictions if one.pool_tuple.core in by_core]
        first, preferred = looked[0], by_core[named[-1]]
        best = max(looked, key=lambda window: (self.objective.feasible(window, first), self.objective.value(window)))
        if self.objective.feasible(best, first) and not self.objective.feasible(preferred, first):
            return best
        return best if self._standard_errors(preferred, best) >= self.settings.returning_change else preferred

    def _standard_errors(self, first: Window, second: Window) -> float:
        """Difference of J between two windows in its standard errors by counting."""
        error = math.hypot(self.objective.error(first), self.objective.error(second))
        return abs(self.objective.value(second) - self.objective.value(first)) / error

    def _observe(self, seconds: float) -> Window:
        measured = observe(self.server, seconds)
        window = measured.window
        goodput_per_s, value = self.objective.goodput_per_s(window), self.objective.value(window)
        self._add(ClimbStep(0.0, measured, goodput_per_s, value), self._now_s + window.duration_s)
        return window

    def _add(self, step: ClimbStep, end_s: float) -> None:
        self.steps.append(ClimbStep(end_s, step.measured, step.goodput_per_s, step.value))
        if self.on_step is not None:
            self.on_step(self.steps[-1])

    @property
    def _now_s(self) -> float:
        return self.steps[-1].end_s if self.steps else 0.0
