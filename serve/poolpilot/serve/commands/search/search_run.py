"""One search on a server, with everything measured so far: an interrupt loses nothing."""

from dataclasses import dataclass, field

from poolpilot.agent.search.observations import target_value
from poolpilot.agent.search.search_controller import SearchController
from poolpilot.env.climbing.climb import ClimbStep
from poolpilot.env.interrupts import Interrupts
from poolpilot.env.measurement.protocol import Measured, MeasurementSettings, measure, observe
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.tuning.target import TuningTarget
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.search.plan import SearchPlan
from poolpilot.serve.commands.search.search_screen import SearchScreen

JUDGED_PERIODS = 4
"""Periods of the windows by which the first tuple and the best one are compared."""


@dataclass
class SearchRun:
    """A search from the tuple in force until its rounds are over.

    Attributes:
        target: The server.
        plan: What is searched.
        controller: What chooses the tuples.
        screen: Shows what happens.
        before: The window under the first tuple; None until it is measured.
        found: The better of what the controller ends on and the best it has measured; None until then.
        again: The window under it, measured once more; None until then, and where it is the first tuple.
        steps: The windows of the search so far.
        interrupted: Whether the user ended it.
    """

    target: TuningTarget
    plan: SearchPlan
    controller: SearchController
    screen: SearchScreen
    before: Measured | None = None
    found: PoolTuple | None = None
    again: Measured | None = None
    steps: list[ClimbStep] = field(default_factory=list)
    interrupted: bool = False
    _interrupts: Interrupts = field(default_factory=Interrupts, repr=False)

    @property
    def best(self) -> PoolTuple | None:
        """The best tuple known; None before there is any."""
        if self.before is not None and self.again is not None and self._worth(self.again) <= self._worth(self.before):
            return self.before.window.pool_tuple
        if self.found is not None:
            return self.found
        best = self.controller.observations.best
        return None if best is None else best.pool_tuple

    @property
    def gain(self) -> float | None:
        """By how much the target rises from the first tuple to the best one, in ln; None before both are measured."""
        if self.before is None or self.found is None:
            return None
        if self.best == self.before.window.pool_tuple:
            return 0.0
        return None if self.again is None else self._value(self.again) - self._value(self.before)

    def search(self) -> None:
        """Searches, measures what was found again, and leaves it in force unless the first tuple is better.

        Ctrl-C ends it, after the window it falls into.

        Raises:
            SettingError: A tuple is refused, or the target is latency and the server does not tell it.
            ServerError: The server stopped.
        """
        server = self.target.server
        try:
            with self._interrupts, self.screen.shown():
                self.before = self._judged(server.tuple_in_force())
                self._interrupts.check()
                while not self.controller.holds:
                    self._step(server)
                self._confirm(self.before.window.pool_tuple)
                self._interrupts.check()
        except KeyboardInterrupt:
            self.interrupted = True

    def _step(self, server: PoolServer) -> None:
        measured = observe(server, self.plan.settings.period_s)
        window, objective = measured.window, self.target.objective
        end_s = window.duration_s + (self.steps[-1].end_s if self.steps else 0.0)
        step = ClimbStep(end_s, measured, objective.goodput_per_s(window), objective.value(window))
        self.steps.append(step)
        self.screen.add(step)
        self._interrupts.check()
        proposed = self.controller.propose(window)
        self.screen.tell(self.controller)
        if proposed != window.pool_tuple:
            server.apply(proposed)

    def _confirm(self, first: PoolTuple) -> None:
        """Measures again what is expected to be best and what was measured best: of many noisy values the best lies."""
        server, seen = self.target.server, self.controller.observations.best
        expected = server.tuple_in_force()
        candidates = dict.fromkeys([expected] if seen is None else [expected, seen.pool_tuple])
        again = [self._judged(one) for one in candidates if one != first]
        self.again = max(again, key=self._worth, default=None)
        self.found = first if self.again is None else self.again.window.pool_tuple
        server.apply(self.best or first)

    def _judged(self, pool_tuple: PoolTuple) -> Measured:
        window_s = JUDGED_PERIODS * self.plan.settings.period_s
        return measure(self.target.server, pool_tuple, MeasurementSettings(window_s=window_s))

    def _worth(self, measured: Measured) -> tuple[bool, float]:
        reference = None if self.before is None else self.before.window
        return self._objective.feasible(measured.window, reference), self._value(measured)

    def _value(self, measured: Measured) -> float:
        return target_value(measured.window, self._objective, self.plan.settings.target)

    @property
    def _objective(self) -> Objective:
        return self.target.objective
