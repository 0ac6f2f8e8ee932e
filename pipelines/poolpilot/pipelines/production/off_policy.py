"""What a model would have gained in production, told from what another one did there: inverse propensities.

Where the model names the configuration that had been set, the outcome counts with one over the probability with which
it had been chosen, and the weights are normalised by their sum (Swaminathan and Joachims, "The Self-Normalized
Estimator for Counterfactual Learning", NIPS 2015). No weight is above a bound (Ionides, "Truncated Importance
Sampling", J. Comput. Graph. Stat. 17(2), 2008), so that no report, wrong or malicious, outweighs all others. Where the
model would have left things alone it would have gained nothing, which needs no estimate. Where it names what nobody has
tried, nothing is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poolpilot.models.predictor import Predictor
from poolpilot.pipelines.production.production_outcome import ProductionOutcome

FEWEST = 10.0
"""Outcomes, as many as the weights are worth, from which on something is said."""

MOST_WEIGHT = 20.0
"""Bound of a weight: what had been chosen with a lower probability than one in so many counts as if with this."""

NORMAL = 1.96
"""Standard errors to each side of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class OffPolicyGain:
    """Mean gain in J that a model would have had.

    Attributes:
        outcomes: Outcomes that were looked at.
        worth: As many of equal weight the matching ones are worth.
        mean: Estimated mean gain of the model.
        error: Its standard error.
        logged: Mean gain of what was done.
    """

    outcomes: int
    worth: float
    mean: float
    error: float
    logged: float

    def objection(self, margin: float) -> str | None:
        """Why production speaks against the model, as a sentence; None where it does not, or says too little.

        Args:
            margin: Gain in J that it must surely lose to what was done.
        """
        high = self.mean + NORMAL * self.error
        if not (self.worth >= FEWEST and high < self.logged - margin):
            return None
        return (
            f"by {self.outcomes} outcomes of production it would have gained {self.mean:+.1%} on average (at most "
            f"{high:+.1%}), what was done there has gained {self.logged:+.1%}"
        )


def off_policy_gain(predictor: Predictor, outcomes: Sequence[ProductionOutcome]) -> OffPolicyGain:
    """Estimates what a model would have gained where outcomes were reported.

    Args:
        predictor: The model.
        outcomes: What was tried in production; what was not tried tells nothing and is left out.
    """
    tried = [one for one in outcomes if one.verdict != "not tried"]
    gains, weights = [], []
    for one in tried:
        named = predictor.predict([one.before], one.limits, one.objective).pool_tuple.core
        if named == one.before.pool_tuple.core:
            gains.append(0.0)
            weights.append(1.0)
        elif named == one.after.pool_tuple.core:
            gains.append(one.realised)
            weights.append(min(1.0 / one.propensity, MOST_WEIGHT))
    logged = float(np.mean([one.realised for one in tried])) if tried else 0.0
    if not gains:
        return OffPolicyGain(len(tried), 0.0, 0.0, 0.0, logged)
    share = np.array(weights) / np.sum(weights)
    mean = float(share @ np.array(gains))
    error = float(np.sqrt(np.square(share * (np.array(gains) - mean)).sum()))
    return OffPolicyGain(len(tried), float(1.0 / np.square(share).sum()), mean, error, logged)
