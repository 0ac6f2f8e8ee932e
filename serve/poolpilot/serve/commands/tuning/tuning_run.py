"""One run of a controller on a server, with everything measured so far: an interrupt loses nothing."""

from dataclasses import dataclass, field
from typing import Any

from poolpilot.env.controller import Controller
from poolpilot.env.interrupts import Interrupts
from poolpilot.env.measurement.protocol import Measured, MeasurementSettings, measure
from poolpilot.env.objective import Objective
from poolpilot.env.tuning.loop import TuningStep, tune
from poolpilot.env.tuning.target import Target
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.body import REQUEST, outcome_body
from poolpilot.serve.commands.tuning.outcome import Row, outcome_row, step_as_dict
from poolpilot.serve.commands.tuning.tuning_screen import TuningScreen


@dataclass
class TuningRun:
    """A run from the tuple in force, until a horizon or until the controller is finished.

    Attributes:
        target: The server.
        controller: What chooses the tuples.
        screen: Shows what happens.
        period_s: Seconds of a window where the controller asks for no other length.
        horizon_s: Seconds of the run; None is until the controller is finished.
        measurement: How the initial tuple is measured, and what is compared with it.
        before: The window under the initial tuple; None until it is measured.
        steps: The windows of the run so far.
        interrupted: Whether the user ended it.
        finished: Whether it came to its end: neither a user nor an error ended it before.
    """

    target: Target
    controller: Controller
    screen: TuningScreen
    period_s: float
    horizon_s: float | None = None
    measurement: MeasurementSettings = field(default_factory=MeasurementSettings)
    before: Measured | None = None
    steps: list[TuningStep] = field(default_factory=list)
    interrupted: bool = False
    finished: bool = False
    _interrupts: Interrupts = field(default_factory=Interrupts, repr=False)

    @property
    def objective(self) -> Objective:
        """What counts."""
        return self.target.objective

    def run(self) -> None:
        """Runs to the end, or until Ctrl-C, which waits for the end of the window.

        Raises:
            SettingError: A setting or a tuple is refused.
            ServerError: The server stopped.
        """
        server = self.target.server
        try:
            with self._interrupts, self.screen.shown():
                self.before = self._measured(server.tuple_in_force())
                self._follow_first()
                self._interrupts.check()
                tune(
                    server,
                    self.controller,
                    self.objective,
                    period_s=self.period_s,
                    horizon_s=self.horizon_s,
                    on_step=self._add,
                )
                self._conclude()
                self._interrupts.check()
            self.finished = True
        except KeyboardInterrupt:
            self.interrupted = True

    def outcome(self) -> list[Row]:
        """Before and after, as far as they were measured; after is the last fifth of the run."""
        windows = [step.measured.window for step in self.steps]
        last = windows[-max(len(windows) // 5, 1) :]
        rows = [] if self.before is None else [outcome_row("before", [self.before.window], self.objective)]
        return [*rows, outcome_row("after", last, self.objective)] if last else rows

    def as_dict(self) -> dict[str, Any]:
        """Everything measured so far, fit for JSON."""
        return {
            REQUEST: self._request(self._final()),
            **self.target.origin,
            "interrupted": self.interrupted,
            "finished": self.finished,
            "outcome": self.outcome(),
            "steps": [step_as_dict(step) for step in self.steps],
        }

    def _final(self) -> Measured | None:
        """The window of what the run has ended on; None before there is any."""
        return self.steps[-1].measured if self.steps else None

    def _request(self, after: Measured | None) -> Any:
        before, last = (None if measured is None else measured.window for measured in (self.before, after))
        return outcome_body(before, last, self.target.server.knobs, self.objective)

    def _follow_first(self) -> None:
        """What follows the window under the initial tuple."""

    def _conclude(self) -> None:
        """What follows the last window."""

    def _follow_window(self) -> None:
        """What follows each window, before the controller sees it."""

    def _measured(self, pool_tuple: PoolTuple) -> Measured:
        return measure(self.target.server, pool_tuple, self.measurement)

    def _add(self, step: TuningStep) -> None:
        self.steps.append(step)
        self._follow_window()
        self.screen.add(step)
        self._interrupts.check()
