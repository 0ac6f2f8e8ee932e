"""Trials, then hold: any predictor as a controller that measures what is named and keeps the best of it.

What is to be kept is measured once more before it is. A pool may be good for half a second after a change and poor from
then on: a backlog that has yet to grow, a latch that has yet to collapse.
"""

import math
from collections.abc import Generator, Iterator

from poolpilot.agent.controllers.trial_rule import TrialRule
from poolpilot.env.controller import Controller, Trial
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction, Predictor
from poolpilot.models.observations.disturbances import disturbances_of

LONG_ENOUGH = 0.9
"""Share of the ticks that a first window must span; what is in force, and how its timer ticks, shows only then."""

MOST_DOUBLINGS = 2
"""How often the first observation is doubled while a class with a floor has not been seen; then it goes without."""

MOST_REPEATS = 5
"""How often a disturbed window is measured again before it counts, or before the initial configuration comes back
meanwhile; and how often a server that has nothing to do is observed again before nothing is tried."""


class TrialController(Controller):
    """Measures the tuple in force and then each one that the predictor names, and holds the best measured.

    It is finished when the predictor names nothing new or has decided as often as it may, and where the server has
    nothing to do: there nothing can be compared. After a change it drops at
    least the time that the requests inside need to leave (Little's law): they were sent under the older tuple, and
    where that one had a long queue they would all count as late.

    While a table is changed or a backup runs, as far as the server is asked for them (`WatchSettings`), nothing is
    tried, and what a trial showed meanwhile does not count.

    Where few requests of a class with a floor end, or none, what is measured first is measured for longer, and a trial
    that is better is measured again, for longer, while it may be on either side of the floor.

    Args:
        predictor: What is asked after every window; None measures the tuple in force and tries nothing.
        knobs: The knobs of the server and their ranges.
        objective: What counts.
        decisions: Candidates tried at most.
        measurement: How long what settles is dropped, and how long a window lasts.
    """

    def __init__(
        self,
        predictor: Predictor | None,
        knobs: KnobSpace,
        objective: Objective,
        decisions: int = 3,
        measurement: MeasurementSettings | None = None,
    ) -> None:
        self.windows: list[Window] = []
        """The windows that counted: the initial configuration's, then one for each trial."""
        self._rule = TrialRule(predictor, knobs, objective, decisions)
        self._objective = objective
        self._measurement = measurement or MeasurementSettings()
        self._best: PoolTuple | None = None
        self._trials = self._measured()
        self._trial = next(self._trials)

    @property
    def predictions(self) -> list[Prediction]:
        """What the predictor said, in order."""
        return self._rule.predictions

    def suggest(self) -> Trial:
        """The next trial; the best tuple once there are no more."""
        return self._trial

    def observe(self, window: Window) -> None:
        """Takes the window of the trial; once finished nothing more is learned.

        Raises:
            SettingError: The limits allow no tuple.
        """
        if self._best is None:
            self._trial = self._trials.send(window)

    def recommend(self) -> PoolTuple | None:
        """The best tuple measured; where trials are left, the best so far."""
        return self._rule.best(self.windows).pool_tuple if self.windows else None

    def _looked(self) -> Generator[Trial, Window, Window]:
        """The initial configuration's window, as long as its timer and floors ask for; any where there is no load."""
        first = yield from self._loaded()
        if first.is_idle:
            return first
        wanted_s = self._measurement.window_for(first.pool_tuple)
        longer_s = self._measurement.doubt_windows * wanted_s
        if self._few(first) and first.duration_s < LONG_ENOUGH * longer_s:
            wanted_s = longer_s
        if first.duration_s < LONG_ENOUGH * wanted_s or disturbances_of([first]):
            first = yield from self._undisturbed(None, wanted_s)
        for doubled in range(1, 1 + MOST_DOUBLINGS):
            if not self._unseen(first):
                break
            first = yield from self._undisturbed(None, 2.0**doubled * longer_s)
        return first

    def _loaded(self) -> Generator[Trial, Window, Window]:
        """The initial configuration's first window under a load; an idle one where none comes."""
        self.reason = "the configuration in force is measured first"
        for _ in range(MOST_REPEATS):
            first = yield Trial(None, self._measurement.window_s)
            if not first.is_idle:
                return first
            self.reason = "nobody sends anything: the configuration in force is observed again"
        return (yield Trial(None, self._measurement.window_s))

    def _measured(self) -> Generator[Trial, Window, None]:
        first = yield from self._looked()
        self.windows.append(first)
        while not first.is_idle and (trial := self._next()) is not None:
            self.reason = next(iter(self._rule.predictions[-1].reasons), f"{trial} was predicted")
            window_s = self._measurement.window_for(trial)
            window = yield from self._changed(self.windows[-1], trial, window_s)
            if self._measurement.doubt_windows > 1.0 and self._in_doubt(window):
                window = yield from self._undisturbed(trial, self._measurement.doubt_windows * window_s)
            self.windows.append(window)
        yield from self._confirmed()
        self._best = self._rule.best(self.windows).pool_tuple
        self.finished = True
        if first.is_idle:
            self.reason = f"nobody sends anything: nothing is tried, and {self._best} stays"
        elif len(self.windows) > 1:
            self.reason = "; ".join(self._in_words())
        while True:
            yield Trial(self._best)

    def _confirmed(self) -> Generator[Trial, Window, None]:
        """Measures again what it would end on, until that is what has been measured twice, or what was there before."""
        in_force, twice = self.windows[-1], {self.windows[0].pool_tuple.core}
        while (best := self._rule.best(self.windows)).pool_tuple.core not in twice:
            self.reason = f"{best.pool_tuple} is the best so far, and is measured once more before it is kept"
            if in_force.pool_tuple.core == best.pool_tuple.core:
                in_force = yield from self._undisturbed(best.pool_tuple, best.duration_s)
            else:
                in_force = yield from self._changed(in_force, best.pool_tuple, best.duration_s)
            self.windows = [in_force if window is best else window for window in self.windows]
            twice.add(best.pool_tuple.core)

    def _few(self, first: Window) -> bool:
        """Whether half as much again as a floor would be in doubt, had it been counted as this was."""
        kept = self._objective.kept_floors(first, first).values()
        return self._unseen(first) or any(self._objective.floor_errors * each.error > 1.0 / 3.0 for each in kept)

    def _unseen(self, first: Window) -> bool:
        """Whether a class that is to have a floor has none, since none of its requests ended."""
        wanted = {name for name, share in self._objective.min_share.items() if share > 0.0 and first.classes}
        return not wanted <= self._objective.floors(first).keys()

    def _in_doubt(self, window: Window) -> bool:
        first = self.windows[0]
        better = self._objective.value(window) > self._objective.value(first)
        kept = self._objective.kept_floors(window, first).values()
        return better and any(each.is_in_doubt(self._objective.floor_errors) for each in kept)

    def _changed(self, latest: Window, trial: PoolTuple, window_s: float) -> Generator[Trial, Window, Window]:
        """The window of a trial after a change from the latest one's tuple, once what settles is dropped."""
        yield from self._settling(latest, trial)
        return (yield from self._undisturbed(trial, window_s))

    def _settling(self, latest: Window, trial: PoolTuple | None) -> Generator[Trial, Window, None]:
        """What is dropped after a change from the latest window's tuple."""
        if (settle_s := leaving_s(latest, self._measurement)) > 0.0:
            yield Trial(trial, settle_s)

    def _undisturbed(self, trial: PoolTuple | None, window_s: float) -> Generator[Trial, Window, Window]:
        """The first window of a trial that nothing disturbs; what waits alone tell of counts once it has gone on.

        A backup that is seen ends; until then the initial configuration waits for that. Waits for locks of definitions
        may be the workload's own, of user locks.
        """
        looks = 0
        while disturbed := disturbances_of([window := (yield Trial(trial, window_s))]):
            self.reason, looks = disturbed[0], looks + 1
            if looks > MOST_REPEATS and not window.disturbances:
                return window
            if looks % MOST_REPEATS == 0 and window.disturbances and self.windows:
                clear = yield from self._cleared(window_s)
                yield from self._settling(clear, trial)
        return window

    def _cleared(self, window_s: float) -> Generator[Trial, Window, Window]:
        """The initial configuration's window in which nothing is seen any more that disturbs."""
        while (window := (yield Trial(self.windows[0].pool_tuple, window_s))).disturbances:
            self.reason = disturbances_of([window])[0]
        return window

    def _in_words(self) -> Iterator[str]:
        yield f"{self._best} is the best of {len(self.windows)} measured"
        if (forbidden := self._rule.forbidden(self.windows)) is not None:
            yield forbidden

    def _next(self) -> PoolTuple | None:
        if not self._rule.may_decide(self.windows):
            return None
        self._rule.ask(self.windows)
        return self._rule.next_trial(self.windows)


def leaving_s(latest: Window, measurement: MeasurementSettings) -> float:
    """Seconds to drop after a change from the tuple of a window: until the requests inside have left (Little's law)."""
    inside = latest.in_system if latest.in_system is not None else latest.profile.features.get("connections")
    needed_s = (inside or 0.0) / latest.throughput_per_s if latest.throughput_per_s > 0.0 else math.inf
    return max(measurement.settle_s, min(needed_s, measurement.max_settle_s))
