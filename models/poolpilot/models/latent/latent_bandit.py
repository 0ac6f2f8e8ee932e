"""The latent bandit as a predictor: it tries what known response curves make most promising, and keeps the best.

What is known before a trial is how like the workloads of the library the server's windows look (`likeness.py`); what
every trial adds is how its answer compares with theirs (`belief.py`).
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.action_grid import log_core
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.belief import Answer, Belief
from poolpilot.models.latent.likeness import likenesses
from poolpilot.models.latent.machine_grid import Placed
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.predictor import Prediction
from poolpilot.models.reasons import percent


class LatentBanditSettings(BaseModel):
    """When it tries a further configuration, and when it advises one that nobody will verify."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model_error: float = Field(
        default=0.25, gt=0.0, description="Standard deviation of ln J between a workload and the curve most like it."
    )
    bandwidth: float = Field(
        default=0.25, gt=0.0, description="Distance of ratios, in spreads, at which a known workload counts for less."
    )
    trial_price: float = Field(
        default=0.05, ge=0.0, description="Weight of what a trial itself loses beside what is lost from then on."
    )
    min_improvement: float = Field(
        default=0.003, ge=0.0, description="Regret that a further trial must be expected to take off."
    )
    max_loss: float = Field(
        default=0.05,
        ge=0.0,
        description="Loss in ln J that the lower end of the interval may hold for advice that nobody verifies.",
    )
    interval: float = Field(default=0.8, gt=0.0, lt=1.0, description="Share of the belief that intervals hold.")

    def relaxed_for_trials(self) -> Self:
        """The same for a caller who measures what follows and goes back."""
        return self.model_copy(update={"max_loss": np.inf})


class LatentBandit:
    """Names the configuration whose trial promises most until none promises enough, then the best one measured.

    Its curves are stated for any machine, and what a server does not show is left out of the comparison, so it serves
    any server on any number of processors.

    Args:
        curves: The known response curves.
        settings: When it tries and when it speaks up.
    """

    def __init__(self, curves: ResponseCurves, settings: LatentBanditSettings | None = None) -> None:
        self.curves = curves
        self.settings = settings or LatentBanditSettings()

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`.

        After one window that is the tuple that is best in expectation whatever the workload; it abstains from it where
        the interval holds a loss above `max_loss`, since then only trying tells.
        """
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the tuple in force first")
        placed = self.curves.grid.on(limits)
        belief = self._belief(windows, placed, limits, objective)
        trial = belief.most_promising(self.settings.trial_price, _useful(placed.tuples, windows[-1]))
        if trial is None or belief.improvement()[trial] < self.settings.min_improvement:
            return self._best_measured(windows, belief, objective)
        return self._tried(windows, belief, placed.tuples[trial], trial)

    def _belief(self, windows: Sequence[Window], placed: Placed, limits: KnobSpace, objective: Objective) -> Belief:
        sizes = np.array([pool_tuple.pool_size for pool_tuple in placed.tuples])
        values = self.curves.log_worth @ placed.shares.T - objective.price_of_thread * np.log(sizes)
        prior = self.curves.prior * likenesses(self.curves, windows, limits, self.settings.bandwidth)
        return Belief(values, prior, _answers(windows, placed.tuples, objective), self.settings.model_error)

    def _tried(self, windows: Sequence[Window], belief: Belief, pool_tuple: PoolTuple, place: int) -> Prediction:
        in_force = windows[-1].pool_tuple
        tail = (1.0 - self.settings.interval) / 2.0
        mean, (low, high) = belief.gain(place, [tail, 1.0 - tail])
        words = f"between {percent(low)} and {percent(high)} over {windows[0].pool_tuple}"
        unsure = low < -self.settings.max_loss
        if unsure:
            reason = f"{in_force.with_core(pool_tuple.core)} promises most, but {words}: only trying it tells"
        else:
            reason = f"{in_force.with_core(pool_tuple.core)} promises most of what was not tried yet: {words}"
        return Prediction(
            pool_tuple=in_force if unsure else in_force.with_core(pool_tuple.core),
            in_force=in_force,
            abstained=unsure,
            reasons=(reason,),
            model_digest=self.curves.digest,
            expected_gain=None if unsure else mean,
            gain_low=None if unsure else low,
            gain_high=None if unsure else high,
        )

    def _best_measured(self, windows: Sequence[Window], belief: Belief, objective: Objective) -> Prediction:
        best = max(windows, key=lambda window: (objective.feasible(window, windows[0]), objective.value(window)))
        gain = objective.value(best) - objective.value(windows[0])
        left = float(belief.improvement().max())
        return Prediction(
            pool_tuple=best.pool_tuple,
            in_force=windows[-1].pool_tuple,
            abstained=False,
            reasons=(
                f"{best.pool_tuple} is the best of {len(windows)} measured; a further trial is expected to take "
                f"{left:.1%} off what it may lose",
            ),
            model_digest=self.curves.digest,
            expected_gain=gain,
            gain_low=gain,
            gain_high=gain,
        )


def _answers(windows: Sequence[Window], tuples: Sequence[PoolTuple], objective: Objective) -> list[Answer]:
    """What every tuple has shown, the first window's first; a tuple that is not among them counts as the nearest."""
    logs = log_core(np.array([pool_tuple.core for pool_tuple in tuples]))
    grouped: dict[int, list[Window]] = defaultdict(list)
    for window in windows:
        distance = np.square(logs - log_core(np.array(window.pool_tuple.core))).sum(axis=1)
        grouped[int(np.argmin(distance))].append(window)
    return [
        Answer(
            place,
            float(np.mean([objective.value(window) for window in found])),
            float(np.sqrt(np.sum([objective.error(window) ** 2 for window in found])) / len(found)),
        )
        for place, found in grouped.items()
    ]


def _useful(tuples: Sequence[PoolTuple], latest: Window) -> NDArray[np.bool_]:
    """Which tuples have no more groups than there could be connections for: up to the smallest size that is enough."""
    sizes = np.array([pool_tuple.pool_size for pool_tuple in tuples])
    connections = latest.profile.features.get("connections")
    if connections is None:
        return np.ones(len(sizes), dtype=np.bool_)
    enough = sizes[sizes >= connections]
    useful: NDArray[np.bool_] = sizes <= enough.min(initial=sizes.max())
    return useful
