"""What a model would have gained in production, told from what another one did there: inverse propensities.

Where what had been set is what a tuner would have set for the model, the configuration that it names or a step on the
way there, the outcome counts with one over the probability with which it had been chosen, and the weights are
normalised by their sum (Swaminathan and Joachims, "The Self-Normalized Estimator for Counterfactual Learning", NIPS
2015). No weight is above a bound (Ionides, "Truncated Importance Sampling", J. Comput. Graph. Stat. 17(2), 2008), so
that no report, wrong or malicious, outweighs all others. Where the model would have left things alone it would have
gained nothing, which needs no estimate; what it has decided itself it would do again. Where it names what nobody has
tried, nothing is known.

The weights make of the outcomes that match a sample of all windows, as far as what the model names had a chance there.
So it is held against what was done on just these: an outcome that does not match counts the less among them the surer
its choice was, and not at all where nothing else could have been set. Else a model whose way was never gone on the
windows that gain most would be held against their gains.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from poolpilot.env.knobs import CORE_KNOBS, KnobSpace, step_reach
from poolpilot.errors import PoolPilotError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.prediction import Predictor
from poolpilot.pipelines.production.production_outcome import ProductionOutcome

FEWEST = 10.0
"""Outcomes, as many as the weights are worth, from which on something is said."""

MOST_WEIGHT = 20.0
"""Bound of a weight: what had been chosen with a lower probability than one in so many counts as if with this."""

NORMAL = 1.96
"""Standard errors to each side of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class OffPolicyGain:
    """Mean gain in J that a model would have had, beside that of what was done on the same windows.

    Attributes:
        outcomes: Outcomes that tell something.
        worth: As many of equal weight the matching ones are worth.
        mean: Estimated mean gain of the model.
        logged: Mean gain of what was done.
        error: Standard error of the difference of the two.
        unanswered: Outcomes that the model has no answer to.
    """

    outcomes: int
    worth: float
    mean: float
    logged: float
    error: float
    unanswered: int = 0

    def objection(self, margin: float) -> str | None:
        """Why production speaks against the model, as a sentence; None where it does not, or says too little.

        Args:
            margin: Gain in J that it must surely lose to what was done.
        """
        least = self.logged - self.mean - NORMAL * self.error
        if not (self.worth >= FEWEST and least > margin):
            return None
        return (
            f"by {self.outcomes} outcomes of production it would have gained {self.mean:+.1%} on average where what "
            f"was done has gained {self.logged:+.1%}, at least {least:.1%} more"
        )


class _Told(NamedTuple):
    """What one outcome tells.

    Attributes:
        gain: Gain of the model, where it matches.
        weight: What it counts for in the mean of the model; 0 where it does not match.
        done: Gain of what was done.
        share: What it counts for in the mean of what was done.
    """

    gain: float
    weight: float
    done: float
    share: float


def off_policy_gain(predictor: Predictor, outcomes: Sequence[ProductionOutcome]) -> OffPolicyGain:
    """Estimates what a model would have gained where outcomes were reported.

    Args:
        predictor: The model.
        outcomes: What was tried in production; what was not tried tells nothing and is left out, and so is what the
            model has no answer to, such as limits that no configuration it knows lies within.
    """
    tried = [one for one in outcomes if one.verdict != "not tried"]
    told = [found for one in tried if (found := _told(predictor, one)) is not None]
    unanswered = len(tried) - len(told)
    gains, weights, done, shares = np.array([one for one in told if one.share > 0.0]).reshape(-1, 4).T
    if not weights.any():
        return OffPolicyGain(len(gains), 0.0, 0.0, 0.0, 0.0, unanswered)
    weights, shares = weights / weights.sum(), shares / shares.sum()
    mean, logged = float(weights @ gains), float(shares @ done)
    apart = weights * (gains - mean) - shares * (done - logged)
    worth = round(float(1.0 / np.square(weights).sum()), 6)  # ten alike are worth ten, not 9.999999999999996
    return OffPolicyGain(len(gains), worth, mean, logged, float(np.sqrt(np.square(apart).sum())), unanswered)


def _told(predictor: Predictor, one: ProductionOutcome) -> _Told | None:
    try:
        prediction = predictor.predict([one.before], one.limits, one.objective)
    except PoolPilotError:
        return None
    done, propensity = one.realised, one.propensity
    if prediction.model_digest == one.model_digest:
        return _Told(done, 1.0, done, 1.0)
    step = step_towards(prediction.pool_tuple, one.before.pool_tuple, one.limits)
    if step == one.before.pool_tuple.core:
        return _Told(0.0, 1.0, done, 1.0)
    if one.after.pool_tuple.core in (step, prediction.pool_tuple.core):
        return _Told(done, min(1.0 / propensity, MOST_WEIGHT), done, min(1.0, MOST_WEIGHT * propensity))
    return _Told(0.0, 0.0, done, min(1.0, MOST_WEIGHT * (1.0 - propensity)))


def step_towards(goal: PoolTuple, before: PoolTuple, limits: KnobSpace) -> tuple[int, int, int]:
    """The core of what a tuner sets at first where a far goal is named: a step of at most a factor in each knob.

    Args:
        goal: What a model names.
        before: What is in force.
        limits: Knobs of the server; one that it lacks stays as it is.
    """
    reaches = zip(CORE_KNOBS, before.core, map(step_reach, before.core), goal.core, strict=True)
    size, oversubscribe, timer_interval_ms = (
        min(max(wanted, low), high) if name in limits.knobs else now for name, now, (low, high), wanted in reaches
    )
    return size, oversubscribe, timer_interval_ms
