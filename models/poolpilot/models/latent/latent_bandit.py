"""The latent bandit as a predictor: it tries what known response curves make most promising, and keeps the best.

What is known before a trial is how like the workloads of the library the server's windows look (`likeness.py`); what
every trial adds is how its answer compares with theirs (`belief.py`). Where transactions on a MariaDB fight over rows,
which no ratio of the library shows, fewer groups may be tried first (docs/decisions.md, 47).
"""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.floors import forbidden_by_floors
from poolpilot.env.knobs import UNKNOWN_CPUS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.gain_bound import within_bound
from poolpilot.models.advice.prediction import Prediction
from poolpilot.models.advice.reasons import percent
from poolpilot.models.latent.belief import Belief
from poolpilot.models.latent.likeness import LikenessSettings, curves_like, prior_by_likeness
from poolpilot.models.latent.placed_curves import PlacedCurves
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.observations.floor_limits import may_be_named
from poolpilot.models.observations.wait_rules import WaitRules

MODEL_ERROR = 0.25
"""Standard deviation of J between a workload and the curve most like it, by default."""


class LatentBanditSettings(BaseModel):
    """When it tries a further configuration."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    likeness: LikenessSettings = Field(
        default=LikenessSettings(bandwidth=0.15, doubt=0.7),
        description="How far what windows look like counts beside answers.",
    )
    model_error: float = Field(
        default=MODEL_ERROR,
        gt=0.0,
        description="Standard deviation of ln J between a workload and the curve most like it.",
    )
    trial_price: float = Field(
        default=0.2, ge=0.0, description="Weight of what a trial itself loses beside what is lost from then on."
    )
    min_improvement: float = Field(
        default=0.001, ge=0.0, description="Regret that a further trial must be expected to take off."
    )
    interval: float = Field(default=0.8, gt=0.0, lt=1.0, description="Share of the belief that intervals hold.")


class LatentBandit:
    """Names the configuration whose trial promises most until none promises enough, then the best one measured.

    It is for who measures what follows and goes back; `LatentAdvisor` speaks to who does not. Its curves are stated for
    any machine, and what a server does not show is left out of the comparison, so it serves any number of processors;
    on a machine larger than any known one it tries all the same, and says so.

    Args:
        curves: The known response curves.
        settings: When it tries.
        rules: When waits for rows are worth a first trial of fewer groups; None goes by the curves alone. They promise
            nothing in numbers, so they are for who has a few trials to spend, not for who weighs each of them.
    """

    def __init__(
        self, curves: ResponseCurves, settings: LatentBanditSettings | None = None, rules: WaitRules | None = None
    ) -> None:
        self.curves = curves
        self.settings = settings or LatentBanditSettings()
        self.rules = rules

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`. It abstains only where the processors of the server are not known."""
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the configuration in force first")
        if limits.processors is None:
            in_force = windows[-1].pool_tuple
            return Prediction(in_force, in_force, True, (UNKNOWN_CPUS,), self.curves.digest)
        prediction = self._fewer_groups(windows, limits) or self._by_curves(windows, limits, objective)
        beyond = replace(prediction, reasons=(*prediction.reasons, *self.curves.beyond(limits)))
        return within_bound(beyond, windows, objective, to_measure=True)

    def _fewer_groups(self, windows: Sequence[Window], limits: KnobSpace) -> Prediction | None:
        """Fewer groups as the first trial where rows are fought over."""
        found = self.rules.fewer_to_try(windows[0], limits) if self.rules is not None and len(windows) == 1 else None
        if found is None:
            return None
        return Prediction(found.pool_tuple, windows[0].pool_tuple, False, (found.reason,), self.curves.digest)

    def _by_curves(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        curves = curves_like(self.curves, windows)
        placed = PlacedCurves.on(curves, limits, objective)
        prior = prior_by_likeness(curves, windows, limits, self.settings.likeness)
        broken = [window for window in windows[1:] if not objective.may_be_kept(window, windows[0])]
        not_kept = frozenset(placed.nearest(window.pool_tuple) for window in broken)
        belief = Belief(placed.values, prior, placed.answers(windows), self.settings.model_error, not_kept)
        usable = placed.useful(windows[-1]) & may_be_named(placed.tuples, windows, limits, objective)
        trial = belief.most_promising(self.settings.trial_price, usable)
        if trial is None or belief.improvement[trial] < self.settings.min_improvement:
            return self._best_measured(windows, belief, objective)
        return self._tried(windows, belief, placed.tuples[trial], trial)

    def _tried(self, windows: Sequence[Window], belief: Belief, pool_tuple: PoolTuple, place: int) -> Prediction:
        in_force = windows[-1].pool_tuple
        named = in_force.with_core(pool_tuple.core)
        mean, low, high = belief.gain(place, self.settings.interval)
        words = f"between {percent(low)} and {percent(high)} over {windows[0].pool_tuple}"
        return Prediction(
            pool_tuple=named,
            in_force=in_force,
            abstained=False,
            reasons=(f"promises most of what was not tried yet: {words}",),
            model_digest=self.curves.digest,
            expected_gain=mean,
            gain_low=low,
            gain_high=high,
            improvement=max(float(belief.improvement[place]), 0.0),
        )

    def _best_measured(self, windows: Sequence[Window], belief: Belief, objective: Objective) -> Prediction:
        best, forbidden = objective.best(windows), forbidden_by_floors(windows, objective)
        gain = objective.value(best) - objective.value(windows[0])
        left = float(belief.improvement.max())
        return Prediction(
            pool_tuple=best.pool_tuple,
            in_force=windows[-1].pool_tuple,
            abstained=False,
            reasons=(
                f"{best.pool_tuple} is the best of {len(windows)} measured; a further trial is expected to take "
                f"{left:.1%} off what it may lose",
                *(() if forbidden is None else (forbidden,)),
            ),
            model_digest=self.curves.digest,
            expected_gain=gain,
            gain_low=gain,
            gain_high=gain,
        )
