"""One search on a server; what was found is measured again before it is believed."""

from dataclasses import dataclass

from poolpilot.agent.search.observations import target_value
from poolpilot.agent.search.search_controller import SearchController
from poolpilot.env.measurement.protocol import Measured
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.commands.search.plan import SearchPlan
from poolpilot.serve.commands.tuning.tuning_run import TuningRun

JUDGED_PERIODS = 4
"""Periods of the windows by which the initial tuple and the best one are compared."""


@dataclass(kw_only=True)
class SearchRun(TuningRun):
    """A search from the tuple in force until its rounds are over; the better of the first and the best tuple stays.

    Attributes:
        plan: What is searched.
        controller: What chooses the tuples.
        found: The better of what the controller ends on and the best it has measured; None until then.
        again: The window under it, measured once more; None until then, and where it is the initial tuple.
    """

    controller: SearchController
    plan: SearchPlan
    found: PoolTuple | None = None
    again: Measured | None = None

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
        """By how much the target rises from the initial tuple to the best one, in ln; None before both are measured."""
        if self.before is None or self.found is None:
            return None
        if self.best == self.before.window.pool_tuple:
            return 0.0
        return None if self.again is None else self._value(self.again) - self._value(self.before)

    def run(self) -> None:
        """See `TuningRun.run`; what is to be kept is the best known, wherever it is interrupted, not what was tried."""
        super().run()
        if self.interrupted and self.plan.settings.keep and self.before is not None:
            server, wanted = self.target.server, self._surely_best(self.before)
            if wanted != server.tuple_in_force():
                server.apply(wanted)

    def _surely_best(self, before: Measured) -> PoolTuple:
        """What was measured again as the better one, or keeps the floors and looks better; else the initial tuple."""
        if self.found is not None and self.best is not None:
            return self.best
        seen = self.controller.observations.best
        better = seen is not None and seen.feasible and seen.mean > self._value(before)
        return seen.pool_tuple if seen is not None and better else before.window.pool_tuple

    def _follow_first(self) -> None:
        """Floors are shares of what a long window has shown; the first of the search may hold no long statement."""
        assert self.before is not None
        self.controller.observations.refer_to(self.before.window)

    def _conclude(self) -> None:
        """Measures again what is expected to be best and what was measured best: of many noisy values the best lies."""
        assert self.before is not None
        first = self.before.window.pool_tuple
        server, seen = self.target.server, self.controller.observations.best
        expected = server.tuple_in_force()
        candidates = dict.fromkeys([expected] if seen is None else [expected, seen.pool_tuple])
        again = [self._measured(one) for one in candidates if one != first]
        self.again = max(again, key=self._worth, default=None)
        self.found = first if self.again is None else self.again.window.pool_tuple
        server.apply(self.best or first)

    def _worth(self, measured: Measured) -> tuple[bool, float]:
        reference = None if self.before is None else self.before.window
        return self.objective.feasible(measured.window, reference), self._value(measured)

    def _value(self, measured: Measured) -> float:
        return target_value(measured.window, self.objective, self.plan.settings.target)
