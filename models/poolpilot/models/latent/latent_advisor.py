"""One observation, one answer: what known curves like a server's windows would advise, and how sure that is."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.knobs import UNKNOWN_CPUS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.gain_bound import GainBound, within_bound
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advice.reasons import percent, percentage, reasons_for
from poolpilot.models.latent.belief import Belief
from poolpilot.models.latent.latent_bandit import MODEL_ERROR
from poolpilot.models.latent.likeness import LikenessSettings, curves_like, prior_by_distance, squared_distances
from poolpilot.models.latent.placed_curves import PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.observations.disturbances import disturbances_of
from poolpilot.models.observations.floor_limits import may_be_named


class LatentAdvisorSettings(BaseModel):
    """When it speaks up."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    likeness: LikenessSettings = Field(
        default=LikenessSettings(bandwidth=0.2, fewest=10.0), description="How far what windows look like counts."
    )
    max_loss: float = Field(
        default=0.05, ge=0.0, description="Loss in ln J over what is in force that the interval of a change may hold."
    )
    min_gain: float = Field(default=0.03, ge=0.0, description="Gain in ln J from which a change is advised.")
    max_regret: float = Field(
        default=0.05, ge=0.0, description="Regret that what is in force may be expected to have where it is to stay."
    )
    most_unlike: float = Field(
        default=0.5, gt=0.0, description="Mean squared distance, in spreads, up to which a workload counts as known."
    )
    interval: float = Field(default=0.9, gt=0.0, lt=1.0, description="Share of the belief that intervals hold.")
    expires_s: float = Field(default=300.0, gt=0.0, description="Seconds after which the advice is stale.")


class Weighed(NamedTuple):
    """The configuration of the least expected regret beside the one in force.

    Attributes:
        pool_tuple: That configuration.
        gain: Its expected gain in ln J over the one in force.
        low: Lower end of the gain's interval.
        high: Upper end of it.
        regret: Its expected regret: what is expected to be lost to the best, whichever that is.
        staying: The same of what is in force.
        over_first: Gain of the configuration over the first window's, with its interval.
        staying_over_first: Gain of what is in force over the first window's, with its interval.
    """

    pool_tuple: PoolTuple
    gain: float
    low: float
    high: float
    regret: float
    staying: float
    over_first: tuple[float, float, float]
    staying_over_first: tuple[float, float, float]


class LatentAdvisor:
    """Names the configuration of the least expected regret, where the interval of its gain holds no clear loss.

    It advises to leave things alone only where little is expected to be lost by that. Else it abstains, and says what
    promised most: then only trying tells (`LatentBandit`).

    Args:
        curves: The known response curves.
        settings: When it speaks up.
    """

    def __init__(self, curves: ResponseCurves, settings: LatentAdvisorSettings | None = None) -> None:
        self.curves = curves
        self.settings = settings or LatentAdvisorSettings()

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`. Where the processors of the server are not known it abstains."""
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the configuration in force first")
        return within_bound(self._by_curves(windows, limits, objective), windows, objective)

    def _by_curves(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        latest = windows[-1]
        if limits.processors is None:
            return self._answer(latest, latest.pool_tuple, (UNKNOWN_CPUS,), None)
        if disturbed := disturbances_of(windows):
            return self._answer(latest, latest.pool_tuple, disturbed, None)
        curves = curves_like(self.curves, windows)
        distances = squared_distances(curves, windows, limits)
        weighed = self._weighed(curves, windows, distances, limits, objective)
        unknown = self._unknown(distances, limits)
        if unknown or not (self._is_change(weighed) or weighed.staying <= self.settings.max_regret):
            most = GainBound.of(latest, objective)
            unsure = _unsure(weighed, latest.pool_tuple, math.inf if most is None else most.most)
            return self._answer(latest, latest.pool_tuple, (*unknown, unsure), None)
        if self._is_change(weighed):
            return self._answer(latest, weighed.pool_tuple, reasons_for(latest, weighed.pool_tuple), weighed.over_first)
        reason = f"{latest.pool_tuple} is expected to lose {weighed.staying:.1%} to the best, whichever that is"
        return self._answer(latest, latest.pool_tuple, (reason,), weighed.staying_over_first)

    def _weighed(
        self,
        curves: ResponseCurves,
        windows: Sequence[Window],
        distances: NDArray[np.float64],
        limits: KnobSpace,
        objective: Objective,
    ) -> Weighed:
        placed = PlacedCurves.on(curves, limits, objective)
        prior = prior_by_distance(curves, distances, self.settings.likeness)
        belief = Belief(placed.values, prior, placed.answers(windows), MODEL_ERROR)
        in_force = placed.nearest(windows[-1].pool_tuple)
        expected = belief.weights @ placed.regrets
        usable = placed.useful(windows[-1]) & may_be_named(placed.tuples, windows, limits, objective)
        usable[in_force] = True
        best = int(np.argmin(np.where(usable, expected, np.inf)))
        gain, low, high = belief.gain(best, self.settings.interval, in_force)
        return Weighed(
            windows[-1].pool_tuple.with_core(placed.tuples[best].core),
            gain,
            low,
            high,
            float(expected[best]),
            float(expected[in_force]),
            belief.gain(best, self.settings.interval) if len(windows) > 1 else (gain, low, high),
            belief.gain(in_force, self.settings.interval),
        )

    def _is_change(self, weighed: Weighed) -> bool:
        return weighed.gain >= self.settings.min_gain and weighed.low >= -self.settings.max_loss

    def _unknown(self, distances: NDArray[np.float64], limits: KnobSpace) -> tuple[str, ...]:
        """Why the library says nothing of this server, as sentences."""
        said = list(self.curves.beyond(limits))
        nearest = float(distances.min())
        if math.isinf(nearest):
            said.append(
                "nothing that this server shows was kept of any known workload, so that nobody knows which of them it "
                "is like"
            )
        elif nearest > self.settings.most_unlike:
            said.append(
                f"the workload is unlike all {len(self.curves.curves)} known ones (distance {nearest:.2f}, known up to "
                f"{self.settings.most_unlike:g})"
            )
        return tuple(said)

    def _answer(
        self,
        latest: Window,
        pool_tuple: PoolTuple,
        reasons: tuple[str, ...],
        gain: tuple[float, float, float] | None,
    ) -> Prediction:
        expected, low, high = gain or (None, None, None)
        return Prediction(
            pool_tuple=pool_tuple,
            in_force=latest.pool_tuple,
            abstained=gain is None,
            reasons=reasons,
            model_digest=self.curves.digest,
            expected_gain=expected,
            gain_low=low,
            gain_high=high,
            expires_s=self.settings.expires_s,
        )


def _unsure(weighed: Weighed, in_force: PoolTuple, most_gain: float) -> str:
    most_lost = -math.expm1(-most_gain)
    loses = f"is expected to lose {percentage(min(weighed.staying, most_lost))} to the best, whichever that is"
    if weighed.pool_tuple.core == in_force.core:
        return f"{in_force} promises most of all, but {loses}: only trying tells"
    return (
        f"{in_force} {loses}; {weighed.pool_tuple} {percentage(weighed.regret)}, but that is between "
        f"{percent(weighed.low)} and {percent(weighed.high)} over what is in force: only trying it tells"
    )
