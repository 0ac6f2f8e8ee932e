"""How the score network answers: a tuple and its gain; numpy only."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.knobs import UNKNOWN_CPUS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.observation import encode
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.gain_bound import within_bound
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advice.reasons import factor, percent, reasons_for
from poolpilot.models.artefact import Artefact
from poolpilot.models.card import PredictorSettings
from poolpilot.models.forward import member_gains
from poolpilot.models.observations.disturbances import disturbances_of
from poolpilot.models.observations.floor_limits import may_be_named
from poolpilot.models.out_of_distribution import NEEDED_RECORDS


class Estimate(NamedTuple):
    """A gain in J with its interval and the members' disagreement."""

    mean: float
    low: float
    high: float
    disagreement: float


class Preference(NamedTuple):
    """The tuple of the highest expected J, however sure.

    Attributes:
        pool_tuple: That tuple.
        over_in_force: Its gain over the tuple of the latest window.
        over_first: Its gain over the tuple of the first window.
        keeping_over_first: Gain of the tuple of the latest window over that of the first.
    """

    pool_tuple: PoolTuple
    over_in_force: Estimate
    over_first: Estimate
    keeping_over_first: Estimate


class ScorePredictor:
    """The score network behind the `Predictor` interface.

    It names the tuple of the highest expected J, of almost equals the one of the smallest pool. It abstains when a
    window is unfamiliar, when the members disagree on that tuple, and when that tuple promises much but not surely; it
    leaves the tuple in force when little is promised.

    Args:
        artefact: The model.
        settings: When it speaks up; as its card says if None.

    Examples:
        >>> from poolpilot.env import RecordedServer, sample_sweeps
        >>> from poolpilot.models import load_champion
        >>> sweep = sample_sweeps("page_faults")[0]
        >>> window = RecordedServer(sweep).observe(1.0)
        >>> prediction = ScorePredictor(load_champion()).predict([window], sweep.limits, sweep.objective)
        >>> prediction.verdict, prediction.in_force.pool_size, prediction.pool_tuple.pool_size > 8
        ('change', 2, True)
    """

    def __init__(self, artefact: Artefact, settings: PredictorSettings | None = None) -> None:
        self.artefact = artefact
        self.settings = settings or artefact.card.settings

    @classmethod
    def for_trials(cls, artefact: Artefact) -> Self:
        """The model for who measures what it names and takes it back where it is worse: it may be bolder."""
        return cls(artefact, artefact.card.settings.relaxed_for_trials())

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`. Where the processors of the server are not known it abstains."""
        if limits.processors is None and windows:
            return self._without_processors(windows[-1].pool_tuple)
        preference = self.prefer(windows, limits, objective)
        latest, chosen = windows[-1], preference.pool_tuple
        gain = preference.over_in_force
        doubts = self._doubts(windows, limits, gain) or self._only_trying_tells(latest.pool_tuple, chosen, gain)
        keep = doubts or self._leave(latest, chosen, gain)
        estimate = preference.keeping_over_first if keep else preference.over_first
        prediction = Prediction(
            pool_tuple=latest.pool_tuple if keep else chosen,
            in_force=latest.pool_tuple,
            abstained=bool(doubts),
            reasons=keep or reasons_for(latest, chosen),
            model_digest=self.artefact.digest,
            expected_gain=None if doubts else estimate.mean,
            gain_low=None if doubts else estimate.low,
            gain_high=None if doubts else estimate.high,
            expires_s=self.settings.expires_s,
        )
        return within_bound(prediction, windows, objective)

    def _without_processors(self, in_force: PoolTuple) -> Prediction:
        digest, expires_s = self.artefact.digest, self.settings.expires_s
        return Prediction(in_force, in_force, True, (UNKNOWN_CPUS,), digest, expires_s=expires_s)

    def prefer(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Preference:
        """Names the tuple of the highest expected J, without asking how sure that is; see `Predictor.predict`."""
        if not windows:
            raise SettingError("a prediction needs at least one window; measure what is in force first")
        grid = self.artefact.card.grid
        gains, latest_gain = self._member_gains(windows, limits, objective)
        best = self._best(np.where(self._allowed(windows, limits, objective), gains.mean(axis=0), -np.inf), windows[-1])
        first, in_force = windows[0].pool_tuple, windows[-1].pool_tuple
        chosen = in_force.with_core(grid.tuples[best].core)
        return Preference(
            chosen,
            over_in_force=self._estimate(gains[:, best] - latest_gain, in_force, chosen),
            over_first=self._estimate(gains[:, best], first, chosen),
            keeping_over_first=self._estimate(latest_gain, first, in_force),
        )

    def probe(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> PoolTuple | None:
        """The tuple not measured yet whose gain may be greatest; see `ProbingPredictor.probe`.

        That is the greatest upper confidence bound (Auer et al., 2002): the members' mean and some of their deviations.
        """
        grid = self.artefact.card.grid
        gains, _ = self._member_gains(windows, limits, objective)
        measured = {window.pool_tuple.core for window in windows}
        allowed = self._allowed(windows, limits, objective) & np.array(
            [one.core not in measured for one in grid.tuples]
        )
        bound = gains.mean(axis=0) + self.settings.probe_deviations * gains.std(axis=0)
        bound = self._without_idle_groups(np.where(allowed, bound, -np.inf), windows[-1])
        best = int(np.argmax(bound))
        return windows[-1].pool_tuple.with_core(grid.tuples[best].core) if np.isfinite(bound[best]) else None

    def _as_shown(self, windows: Sequence[Window]) -> list[Window]:
        """The windows without what the network was not shown in training."""
        return [window.hiding(self.artefact.card.hidden_features) for window in windows]

    def _allowed(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> NDArray[np.bool_]:
        """Which of the grid the server takes and may be named, (A,); all that it takes where none may."""
        grid = self.artefact.card.grid
        taken = grid.mask(limits)
        allowed = taken & may_be_named(grid.tuples, windows, limits, objective)
        return allowed if allowed.any() else taken

    def _member_gains(
        self, windows: Sequence[Window], limits: KnobSpace, objective: Objective
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Gains over the first window's tuple under `objective`: of the grid (M, A), of the latest tuple (M,)."""
        card, windows = self.artefact.card, self._as_shown(windows)
        trained_price = card.objective.price_of_thread
        same = objective.price_of_thread == trained_price
        trained = objective if same else objective.model_copy(update={"price_of_thread": trained_price})
        observation = encode(windows, limits, trained, card.grid)
        gains = member_gains(self.artefact.weights, {name: array[None] for name, array in observation.items()})
        # J is linear in the price of a thread, so another price only shifts the trained gains.
        cheaper = trained_price - objective.price_of_thread
        first_log = math.log(windows[0].pool_tuple.pool_size)
        logs = np.log(self._sizes) - first_log
        latest_log = math.log(windows[-1].pool_tuple.pool_size) - first_log
        return (
            gains.members[:, 0].astype(np.float64) + cheaper * logs,
            gains.latest[:, 0].astype(np.float64) + cheaper * latest_log,
        )

    def _best(self, gain: NDArray[np.float64], latest: Window) -> int:
        """The smallest pool that is as good as the best, of the gains (A,): what is not needed is not advised."""
        gain = self._without_idle_groups(gain, latest)
        as_good = gain >= gain.max() - self.settings.indifference
        smallest = as_good & (self._sizes == self._sizes[as_good].min())
        return int(np.argmax(np.where(smallest, gain, -np.inf)))

    def _without_idle_groups(self, gain: NDArray[np.float64], latest: Window) -> NDArray[np.float64]:
        """Gains (A,) with the pools at minus infinity some of whose groups could never have a connection."""
        connections = latest.profile.features.get("connections")
        if connections is None:
            return gain
        enough = self._sizes[(self._sizes >= connections) & np.isfinite(gain)]
        return np.where(self._sizes <= enough.min(initial=self._sizes.max()), gain, -np.inf)

    @property
    def _sizes(self) -> NDArray[np.int64]:
        return self.artefact.card.grid.pool_sizes

    def _estimate(self, member_gain: NDArray[np.float64], before: PoolTuple, after: PoolTuple) -> Estimate:
        """Mean over members (M,), and an interval from their disagreement and the noise of outcomes."""
        if before.core == after.core:
            return Estimate(0.0, 0.0, 0.0, 0.0)
        card = self.artefact.card
        gains = member_gain.tolist()  # of a handful of numbers Python takes a quarter of numpy's time
        mean = sum(gains) / len(gains)
        disagreement = math.sqrt(sum((gain - mean) ** 2 for gain in gains) / len(gains))
        half = self.settings.deviations * math.hypot(disagreement, card.residual_std)
        return Estimate(mean, mean - half, mean + half, disagreement)

    def _doubts(self, windows: Sequence[Window], limits: KnobSpace, gain: Estimate) -> tuple[str, ...]:
        card = self.artefact.card
        statistics, tolerance = card.out_of_distribution, self.settings.tolerance
        judged = [statistics.assess(window, limits.cpus, tolerance).reasons for window in self._as_shown(windows)]
        unfamiliar = (*disturbances_of(windows), *max(judged, key=len))
        if gain.disagreement <= self.settings.max_disagreement:
            return unfamiliar
        return (
            *unfamiliar,
            "the networks of the model contradict each other: the gains that they expect differ by a factor of "
            f"{factor(gain.disagreement)}, up to {factor(self.settings.max_disagreement)} is trusted; {NEEDED_RECORDS}",
        )

    def _only_trying_tells(self, in_force: PoolTuple, chosen: PoolTuple, gain: Estimate) -> tuple[str, ...]:
        """Why too much is promised to leave it and too little is sure to change it; nothing where that is not so."""
        if gain.mean <= self.settings.max_forgone or self._is_sure(gain):
            return ()
        interval = f"between {percent(gain.low)} and {percent(gain.high)}"
        return (f"{chosen} promises {percent(gain.mean)} over {in_force}, but {interval}: only trying it tells",)

    def _is_sure(self, gain: Estimate) -> bool:
        return gain.mean - self.settings.caution * gain.disagreement > self.settings.min_gain

    def _leave(self, latest: Window, chosen: PoolTuple, gain: Estimate) -> tuple[str, ...]:
        in_force = latest.pool_tuple
        if chosen.core == in_force.core:
            return (
                f"leave it: {in_force} is the best configuration known for this workload",
                *reasons_for(latest, chosen),
            )
        if self._is_sure(gain):
            return ()
        least = percent(self.settings.min_gain + self.settings.caution * gain.disagreement)
        promised = f"{chosen} promises {percent(gain.mean)} over {in_force}"
        return (f"leave it: {promised}; untried, only {least} or more is trusted",)
