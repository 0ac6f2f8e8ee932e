"""A search within seconds: rounds that settle and measure as other methods do, for as long as the time lasts."""

from collections.abc import Generator

from poolpilot.agent.controllers.trial_controller import leaving_s
from poolpilot.agent.search.search_controller import SearchController
from poolpilot.env.controller import Controller, Trial
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window


class TimedSearch(Controller):
    """Runs a search until the next round would end too late, then holds the best tuple it found.

    Args:
        search: The search; its `settle_windows` should be 0, since what settles is dropped here.
        measurement: How long what settles is dropped, and how long a window lasts.
        budget_s: Seconds of the server's time that all windows may take, those dropped among them.
        most_trials: Tuples tried at most; None is as many as the time allows.
    """

    def __init__(
        self,
        search: SearchController,
        measurement: MeasurementSettings,
        budget_s: float,
        most_trials: int | None = None,
    ) -> None:
        self.search = search
        self._measurement = measurement
        self._budget_s = budget_s
        self._most_trials = most_trials
        self._rounds = self._run()
        self._trial = next(self._rounds)

    def suggest(self) -> Trial:
        """The next trial; the best tuple once the time is over."""
        return self._trial

    def observe(self, window: Window) -> None:
        """Takes the window of the trial.

        Raises:
            SettingError: The search is for latency and the server does not tell it.
        """
        if not self.finished:
            self._trial = self._rounds.send(window)

    def recommend(self) -> PoolTuple | None:
        """What the search holds best of the tuples measured so far."""
        return self.search.best_so_far()

    def _run(self) -> Generator[Trial, Window, None]:
        self.reason = "the configuration in force is measured first"
        spent_s, trials = 0.0, 0
        window = yield Trial(None, self._measurement.window_s)
        while True:
            self.search.observe(window)
            spent_s += window.duration_s
            wanted, settle_s = self.search.suggest().pool_tuple, leaving_s(window, self._measurement)
            if wanted is None or self.search.finished or trials == self._most_trials:
                break
            window_s = self._measurement.window_for(wanted)
            if spent_s + settle_s + window_s > self._budget_s:
                break
            self.reason = self.search.reason
            if settle_s > 0.0:
                spent_s += (yield Trial(wanted, settle_s)).duration_s
            window = yield Trial(wanted, window_s)
            trials += 1
        self.finished = True
        best = self.search.best_so_far()
        self.reason = f"{best} is the best of {trials} configurations tried"
        while True:
            yield Trial(best)
