"""The loop that every controller is run by: a trial, a window, what the controller makes of it, until the end."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

from poolpilot.env.controller import Controller
from poolpilot.env.measurement.protocol import Measured, observe
from poolpilot.env.objective import Objective, regret
from poolpilot.env.server import AnyServer
from poolpilot.featurizer.pool_tuple import PoolTuple


@dataclass(frozen=True, slots=True)
class TuningStep:
    """One window of a run.

    Attributes:
        end_s: Seconds from the start of the run to the end of the window.
        measured: The window.
        goodput_per_s: Its goodput.
        value: Its J.
    """

    end_s: float
    measured: Measured
    goodput_per_s: float
    value: float

    @classmethod
    def of(cls, measured: Measured, begin_s: float, objective: Objective) -> Self:
        """The step of a window that began so many seconds after the run."""
        window = measured.window
        return cls(begin_s + window.duration_s, measured, objective.goodput_per_s(window), objective.value(window))

    @property
    def pool_tuple(self) -> PoolTuple:
        """The tuple it was measured under."""
        return self.measured.window.pool_tuple

    @property
    def duration_s(self) -> float:
        """Length of the window in seconds."""
        return self.measured.window.duration_s


@dataclass(frozen=True, slots=True)
class TuningTrace:
    """All windows of a run, in order.

    Attributes:
        steps: The windows.
    """

    steps: tuple[TuningStep, ...]

    @property
    def duration_s(self) -> float:
        """Length of the run in seconds."""
        return sum(step.duration_s for step in self.steps)

    @property
    def final_tuple(self) -> PoolTuple:
        """The tuple of the last window."""
        return self.steps[-1].pool_tuple

    @property
    def best_value(self) -> float:
        """Greatest J seen."""
        return max(step.value for step in self.steps)

    def lost(self, oracle_goodput_per_s: float) -> float:
        """Goodput lost on the way: requests the oracle would have completed in time and the run did not."""
        return sum((oracle_goodput_per_s - step.goodput_per_s) * step.duration_s for step in self.steps)

    def mean_regret(self, oracle_value: float) -> float:
        """Regret averaged over time: the area lost, as a share."""
        area = sum(regret(step.value, oracle_value) * step.duration_s for step in self.steps)
        return area / self.duration_s


def tune(
    server: AnyServer,
    controller: Controller,
    objective: Objective,
    *,
    period_s: float = 0.1,
    horizon_s: float | None = None,
    on_step: Callable[[TuningStep], None] | None = None,
) -> TuningTrace:
    """Runs a controller from the tuple in force: a trial is set and measured, until the horizon or its own end.

    The first window is of the tuple in force, whatever is suggested. Nothing is dropped to settle, so that the
    controller sees what users see. At the end what it recommends is set.

    Args:
        server: The server under load.
        controller: What suggests the tuples.
        objective: What the windows are evaluated by.
        period_s: Seconds of a window where the controller asks for no other length.
        horizon_s: Seconds of the run; None is until the controller is finished.
        on_step: Called after every window, before the controller sees it: for a live screen and for records.

    Raises:
        SettingError: The controller suggested a tuple outside the ranges, or cannot go by the server's windows.
        ServerError: The server stopped.

    Examples:
        >>> from poolpilot.env import ClimbController, ClimbSettings, CurveServer, spectral_climber
        >>> server, objective = CurveServer([(1, 100), (16, 1200), (64, 600)]), Objective()
        >>> climb = ClimbController(spectral_climber(ClimbSettings(), server.knobs), server.tuple_in_force(), objective)
        >>> trace = tune(server, climb, objective, horizon_s=20.0)
        >>> trace.steps[0].goodput_per_s, trace.steps[-1].goodput_per_s > 1000.0
        (320.0, True)
    """
    steps: list[TuningStep] = []
    for step in _steps(server, controller, objective, period_s, horizon_s):
        steps.append(step)
        if on_step is not None:
            on_step(step)
    return TuningTrace(tuple(steps))


def _steps(
    server: AnyServer, controller: Controller, objective: Objective, period_s: float, horizon_s: float | None
) -> Iterator[TuningStep]:
    """Yields every window before the controller sees it, and sets what is recommended after the last."""
    end_s, in_force = 0.0, server.tuple_in_force()
    while horizon_s is not None or not controller.finished:
        trial = controller.suggest()
        window_s = trial.window_s or period_s
        if horizon_s is not None and end_s + 0.5 * window_s >= horizon_s:
            break
        if end_s > 0.0:
            _set(server, trial.pool_tuple, in_force)
        step = TuningStep.of(observe(server, window_s), end_s, objective)
        end_s, in_force = step.end_s, step.pool_tuple
        yield step
        controller.observe(step.measured.window)
    _set(server, controller.recommend(), in_force)


def _set(server: AnyServer, wanted: PoolTuple | None, in_force: PoolTuple) -> None:
    if wanted is not None and wanted != in_force:
        server.apply(wanted)
