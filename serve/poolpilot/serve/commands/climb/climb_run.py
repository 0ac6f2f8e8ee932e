"""One climb on a server, with everything measured so far: an interrupt loses nothing."""

from dataclasses import dataclass, field
from typing import Any

from poolpilot.agent.controllers.warm_start import WarmStart, WarmStartSettings
from poolpilot.env.climbing.climb import ClimbController, ClimbStep, run_climb
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.climbing.spectral import spectral_climber
from poolpilot.env.interrupts import Interrupts
from poolpilot.env.measurement.protocol import Measured, MeasurementSettings, measure
from poolpilot.env.objective import Objective
from poolpilot.env.tuning.target import TuningTarget
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.body import REQUEST, outcome_body
from poolpilot.models.predictor import Prediction, ProbingPredictor
from poolpilot.native_pool import SpectralSettings
from poolpilot.serve.commands.climb.climb_knobs import SIZE_ALONE
from poolpilot.serve.commands.climb.climb_outcome import decision_as_dict, outcome_rows, step_as_dict
from poolpilot.serve.commands.climb.climb_screen import ClimbScreen
from poolpilot.serve.commands.climb.climb_settings import SettingSources
from poolpilot.serve.commands.climb.climb_view import AnyClimber


@dataclass
class ClimbRun:
    """A climb: warm where there is a predictor, and cold where there is none or it abstains.

    Attributes:
        target: The server.
        settings: The climber's settings at the start.
        sources: Where they came from; their file is looked at before each window.
        screen: Shows what happens.
        predictor: What a warm climb starts from.
        looks: How the predictor looks at the server.
        knobs: The knobs that are climbed.
        before: The window under the first tuple; None until it is measured.
        steps: The windows so far.
        predictions: What the predictor said, in order.
        climber: The climber, once it has begun.
        interrupted: Whether the user ended it.
    """

    target: TuningTarget
    settings: SpectralSettings
    sources: SettingSources
    screen: ClimbScreen
    predictor: ProbingPredictor | None = None
    looks: WarmStartSettings = field(default_factory=WarmStartSettings)
    knobs: tuple[str, ...] = SIZE_ALONE
    before: Measured | None = None
    steps: list[ClimbStep] = field(default_factory=list)
    predictions: list[Prediction] = field(default_factory=list)
    climber: AnyClimber | None = None
    interrupted: bool = False
    _interrupts: Interrupts = field(default_factory=Interrupts, repr=False)

    @property
    def objective(self) -> Objective:
        """What counts, at the climber's price of a thread."""
        return self.target.objective.model_copy(update={"price_of_thread": self.settings.price_of_thread})

    def climb(self, horizon_s: float) -> None:
        """Climbs from the tuple in force until the horizon, for two samples at least, or until Ctrl-C.

        Ctrl-C waits for the end of the window.

        Raises:
            SettingError: A setting or a tuple is refused.
            ServerError: The server stopped.
        """
        server = self.target.server
        try:
            with self._interrupts, self.screen.shown():
                self.before = measure(server, server.tuple_in_force(), MeasurementSettings())
                self._interrupts.check()
                self._climb(max(horizon_s, 2.0 * self.settings.hcm_period))
                self._interrupts.check()
        except KeyboardInterrupt:
            self.interrupted = True

    def as_dict(self) -> dict[str, Any]:
        """Everything measured and decided so far, fit for JSON."""
        before = None if self.before is None else self.before.window
        after = self.steps[-1].measured.window if self.steps else None
        return {
            REQUEST: outcome_body(before, after, self.target.server.knobs, self.objective),
            **self.target.origin,
            "knobs": self.knobs,
            "interrupted": self.interrupted,
            "settings": (self.climber.settings if self.climber else self.settings).as_dict(),
            "predictions": [prediction.as_dict() for prediction in self.predictions],
            "outcome": outcome_rows(self.before, self.steps, self.objective),
            "steps": [step_as_dict(step) for step in self.steps],
            "decisions": [decision_as_dict(record) for record in self.climber.log()] if self.climber else [],
        }

    def _climb(self, horizon_s: float) -> None:
        if self.predictor is not None:
            return self._climb_from(self.predictor, horizon_s)
        first = self.target.server.tuple_in_force()
        controller = self._of_size(first) if self.knobs == SIZE_ALONE else self._of_many(first)
        run_climb(self.target.server, controller, controller.period_s, horizon_s, self.objective, self._add)

    def _climb_from(self, predictor: ProbingPredictor, horizon_s: float) -> None:
        """Climbs from what the predictor says; many knobs do not hold that, but look round it by their waves."""
        WarmStart(
            self.target.server,
            predictor,
            self.objective,
            self.looks,
            self.settings,
            self._add,
            self._begin,
            None if self.knobs == SIZE_ALONE else self._of_many,
            predictions=self.predictions,
        ).run(horizon_s)

    def _of_size(self, first: PoolTuple) -> ClimbController:
        climber = spectral_climber(self.settings, self.target.server.knobs, first.pool_size)
        self._begin(climber)
        return ClimbController(climber, first, self.objective)

    def _of_many(self, first: PoolTuple) -> KnobClimbController:
        climbing = KnobClimbController(self.settings, self.target.server.knobs, first, self.objective, self.knobs)
        self._begin(climbing)
        return climbing

    def _begin(self, climber: AnyClimber) -> None:
        self.climber = climber
        self.screen.follow(climber)

    def _add(self, step: ClimbStep) -> None:
        self.steps.append(step)
        if self.climber is not None:
            self._adopt(self.climber)
        self.screen.add(step)
        self._interrupts.check()

    def _adopt(self, climber: AnyClimber) -> None:
        """Takes over what has changed in the file of settings; a broken file changes nothing."""
        try:
            changed = self.sources.changed()
        except SettingError as error:
            self.screen.tell(f"{error}; those before stay")
            return
        if changed is not None:
            climber.adopt(changed)
            self.screen.tell(f"read again after sample {climber.latest['sample']}")
