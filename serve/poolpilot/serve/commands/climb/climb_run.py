"""One climb: warm where there is a predictor, and cold where there is none or it abstains."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rich.console import Console

from poolpilot.agent.controllers.warm_start import (
    MARIADB_WARM_START,
    WarmStart,
    WarmStartSettings,
    climb_controller,
)
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.measurement.load_period import load_period_s
from poolpilot.env.measurement.protocol import Measured
from poolpilot.env.tuning.target import Target
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.native_pool import SpectralClimber, SpectralSettings
from poolpilot.serve.commands.climb.climb_run_settings import ClimbRunSettings, SettingsWatch
from poolpilot.serve.commands.tuning.outcome import Row, outcome_row
from poolpilot.serve.commands.tuning.tuning_run import TuningRun
from poolpilot.serve.commands.tuning.tuning_screen import TuningScreen


@dataclass(kw_only=True)
class ClimbRun(TuningRun):
    """A run of the climber, whose settings may change meanwhile.

    Attributes:
        settings: What was asked for; its file is looked at after each window.
        left: The tuple that it has left in force; None until then, and where something else ended it.
    """

    settings: ClimbRunSettings
    left: PoolTuple | None = None
    _watch: SettingsWatch = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._watch = SettingsWatch(self.settings)

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

    @property
    def tried(self) -> list[Window]:
        """The windows of what a warm start has tried, the initial tuple's first."""
        return self.controller.tried if isinstance(self.controller, WarmStart) else []

    def outcome(self) -> list[Row]:
        """Before and after, which is what it has ended on: the latest windows of that, or the trial of it."""
        rows, tried = super().outcome(), self._tried_and_left()
        if not rows or self.left is None:
            return rows
        windows = [step.measured.window for step in self.steps if step.pool_tuple == self.left]
        after = [tried] if tried is not None else windows[-max(len(self.steps) // 5, 1) :]
        return [*rows[:-1], outcome_row("after", after, self.objective)] if after else rows

    @property
    def load_period_s(self) -> float | None:
        """The period of a load that is seen to repeat itself."""
        return load_period_s([step.measured.window for step in self.steps])

    def as_dict(self) -> dict[str, Any]:
        """Everything measured and decided so far, fit for JSON."""
        climber, left = self.climber, self.left
        return {
            **super().as_dict(),
            "ended_on": None if left is None else left.as_dict(),
            "load_period_s": self.load_period_s,
            "knobs": self.settings.knobs,
            "settings": (climber.settings if climber else self.settings.native()).as_dict(),
            "predictions": [prediction.as_dict() for prediction in self.predictions],
            "decisions": [decision_as_dict(record) for record in climber.log()] if climber else [],
        }

    def _tried_and_left(self) -> Window | None:
        """The window of the trial that was left in force; None once later windows tell of it, and before the end."""
        if self.left is None or not isinstance(self.controller, WarmStart):
            return None
        if self.controller.climb is not None or self.controller.returning:
            return None
        return next((window for window in self.tried if window.pool_tuple == self.left), None)

    def _final(self) -> Measured | None:
        of_trial = self._tried_and_left()
        of_step = (step.measured for step in self.steps if step.measured.window is of_trial)
        return super()._final() if of_trial is None else next(of_step, super()._final())

    def run(self) -> None:
        """See `TuningRun.run`; what is to be kept is what it would end on, wherever it is interrupted."""
        super().run()
        if self.interrupted and self.settings.keep:
            wanted, server = self.controller.recommend(), self.target.server
            if wanted is not None and wanted != server.tuple_in_force():
                server.apply(wanted)
            self.left = server.tuple_in_force()

    def _conclude(self) -> None:
        self.left = self.target.server.tuple_in_force()

    def _follow_window(self) -> None:
        """Takes over what has changed in the file of settings; a broken file changes nothing."""
        if (climber := self.climber) is None:
            return
        try:
            changed = self._watch.changed()
        except SettingError as error:
            self.screen.tell(f"{error}; those before stay")
            return
        if changed is not None:
            climber.adopt(changed)
            self.screen.tell(f"read again after sample {climber.latest['sample']}")


def climb_run(settings: ClimbRunSettings, target: Target, predictor: Predictor | None, console: Console) -> ClimbRun:
    """A climb that has not begun; it lasts two samples at least, and its first observation where it has one.

    Args:
        settings: What was asked for.
        target: The server.
        predictor: What a warm climb starts from; None is a cold climb.
        console: Where it is shown.

    Raises:
        SettingError: A setting is refused, or a knob cannot be climbed.
    """
    native = settings.native()
    target = priced(target, native)
    warm_start = WarmStartSettings() if settings.dsn is None else MARIADB_WARM_START
    controller = climb_controller(native, target.server, target.objective, settings.knobs, predictor, warm_start)
    look_s = controller.suggest().window_s or 0.0 if isinstance(controller, WarmStart) else 0.0
    return ClimbRun(
        target=target,
        controller=controller,
        screen=TuningScreen(f"Climb on {target.name}", console, target.goodput, controller),
        period_s=native.hcm_period,
        horizon_s=max(settings.seconds, look_s + 2.0 * native.hcm_period),
        settings=settings,
    )


def priced(target: Target, settings: SpectralSettings) -> Target:
    """A target whose objective has the climber's price of a thread."""
    return replace(target, objective=target.objective.model_copy(update={"price_of_thread": settings.price_of_thread}))


def decision_as_dict(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record of the climber, fit for JSON: complex numbers as (re, im), None for what is not finite."""
    return {name: _plain(value) for name, value in record.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
