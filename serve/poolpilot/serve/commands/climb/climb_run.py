"""One climb: warm where there is a predictor, and cold where there is none or it abstains."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from poolpilot.agent.controllers.warm_start import OpenClimb, WarmStart, WarmStartSettings, size_climb
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.controller import Controller
from poolpilot.env.objective import Objective
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.body import REQUEST, outcome_body
from poolpilot.models.predictor import Prediction, ProbingPredictor
from poolpilot.native_pool import SpectralClimber, SpectralSettings
from poolpilot.serve.commands.climb.climb_knobs import SIZE_ALONE
from poolpilot.serve.commands.climb.climb_settings import SettingSources
from poolpilot.serve.commands.tuning.outcome import Row, outcome_row, step_as_dict
from poolpilot.serve.commands.tuning.tuning_run import TuningRun


@dataclass(kw_only=True)
class ClimbRun(TuningRun):
    """A run of the climber for two samples at least; its settings may change meanwhile.

    Attributes:
        settings: The climber's settings at the start.
        sources: Where they came from; their file is looked at after each window.
        knobs: The knobs that are climbed.
    """

    settings: SpectralSettings
    sources: SettingSources
    knobs: tuple[str, ...] = SIZE_ALONE

    def __post_init__(self) -> None:
        self.horizon_s = max(self.horizon_s or 0.0, 2.0 * self.settings.hcm_period)

    @property
    def objective(self) -> Objective:
        """What counts, at the climber's price of a thread."""
        return priced(self.target.objective, self.settings)

    @property
    def climber(self) -> SpectralClimber | KnobClimbController | None:
        """The climber, once it has begun."""
        if self.before is None:
            return None
        climbing = self.controller.climb if isinstance(self.controller, WarmStart) else self.controller
        if isinstance(climbing, ClimbController):
            assert isinstance(climbing.climber, SpectralClimber)
            return climbing.climber
        return climbing if isinstance(climbing, KnobClimbController) else None

    @property
    def predictions(self) -> list[Prediction]:
        """What the predictor said, in order."""
        return self.controller.predictions if isinstance(self.controller, WarmStart) else []

    def outcome(self) -> list[Row]:
        """Before and after, as far as they were measured; after is the last fifth of the climb."""
        windows = [step.measured.window for step in self.steps]
        last = windows[-max(len(windows) // 5, 1) :]
        rows = [] if self.before is None else [outcome_row("before", [self.before.window], self.objective)]
        return [*rows, outcome_row("after", last, self.objective)] if last else rows

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
            "outcome": self.outcome(),
            "steps": [step_as_dict(step) for step in self.steps],
            "decisions": [decision_as_dict(record) for record in self.climber.log()] if self.climber else [],
        }

    def _watch(self) -> None:
        """Takes over what has changed in the file of settings; a broken file changes nothing."""
        if (climber := self.climber) is None:
            return
        try:
            changed = self.sources.changed()
        except SettingError as error:
            self.screen.tell(f"{error}; those before stay")
            return
        if changed is not None:
            climber.adopt(changed)
            self.screen.tell(f"read again after sample {climber.latest['sample']}")


def climb_controller(
    target: Target,
    settings: SpectralSettings,
    knobs: tuple[str, ...],
    predictor: ProbingPredictor | None,
    looks: WarmStartSettings,
) -> Controller:
    """What climbs: from the tuple in force, or from what a predictor says; many knobs look round that by their waves.

    Args:
        target: The server.
        settings: How it climbs.
        knobs: The knobs that are climbed.
        predictor: What a warm climb starts from; None is a cold climb.
        looks: How the predictor looks at the server.

    Raises:
        SettingError: A setting is refused, or a knob cannot be climbed.
    """
    server, objective = target.server, priced(target.objective, settings)

    def many(start: PoolTuple, _warm: bool) -> Controller:
        return KnobClimbController(settings, server.knobs, start, objective, knobs)

    open_climb: OpenClimb = size_climb(settings, server.knobs, objective) if knobs == SIZE_ALONE else many
    if predictor is None:
        return open_climb(server.tuple_in_force(), False)
    return WarmStart(predictor, server.knobs, objective, open_climb, looks)


def priced(objective: Objective, settings: SpectralSettings) -> Objective:
    """An objective at the climber's price of a thread."""
    return objective.model_copy(update={"price_of_thread": settings.price_of_thread})


def decision_as_dict(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of the climber, fit for JSON: complex numbers as (re, im), None for what is not finite."""
    return {name: _plain(value) for name, value in record.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
