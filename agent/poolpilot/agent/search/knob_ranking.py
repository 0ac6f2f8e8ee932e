"""Which knobs matter: the order in which they enter the path of a lasso.

D. Van Aken, A. Pavlo, G. J. Gordon and B. Zhang, "Automatic Database Management System Tuning Through Large-scale
Machine Learning" (OtterTune), SIGMOD 2017, section 5 (docs/references.md). The penalty on the weights falls from where
nothing explains the target; a knob is worth as much as the penalty that it overcomes, in any term of a polynomial.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from sklearn.linear_model import lasso_path
from sklearn.preprocessing import PolynomialFeatures

from poolpilot.agent.search.stored_workload import StoredWorkload
from poolpilot.errors import SettingError

Floats = NDArray[np.float64]

FLAT = 1e-9
"""What deviates by less than this is constant and can explain nothing."""


class RankingSettings(BaseModel):
    """How the path of the lasso is walked."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    degree: int = Field(default=2, ge=1, le=3, description="Degree of the polynomial in the knobs; 2 is OtterTune's.")
    steps: int = Field(default=100, ge=2, description="Penalties on the path, log-spaced and falling.")
    least_penalty: float = Field(
        default=1e-3, gt=0.0, lt=1.0, description="Last penalty, as a share of the one under which nothing enters."
    )
    iterations: int = Field(default=100_000, ge=1, description="Passes of coordinate descent at each penalty at most.")


@dataclass(frozen=True, slots=True)
class RankedKnob:
    """One knob and when it entered.

    Attributes:
        name: The knob.
        penalty: Penalty at which a term with it entered, as a share of the one under which nothing does; 0 if none did.
        weight: Greatest weight of such a term there, in standard deviations of the target.
    """

    name: str
    penalty: float
    weight: float


def rank_knobs(
    points: Floats, values: Floats, names: Sequence[str], settings: RankingSettings | None = None
) -> tuple[RankedKnob, ...]:
    """Ranks knobs by the penalty at which they enter, of equals by weight.

    Args:
        points: Encoded tuples, (n, d).
        values: The target under each, (n,).
        names: Name of each knob, d of them.
        settings: How the path is walked.

    Raises:
        SettingError: There are fewer than two tuples, or the lengths differ.
    """
    if len(points) < 2 or len(points) != len(values) or points.shape[1] != len(names):
        raise SettingError("a ranking needs at least two configurations, a value for each, and a name for each knob")
    settings = settings or RankingSettings()
    polynomial = PolynomialFeatures(settings.degree, include_bias=False)
    # Standardised before the polynomial, so that products are of deviations, and after it, so that one penalty is fair.
    terms = _standardised(polynomial.fit_transform(_standardised(points)))
    target = _standardised(values[:, None])[:, 0]
    limit = float(np.abs(terms.T @ target).max()) / len(target)
    if limit <= FLAT:
        return tuple(RankedKnob(name, 0.0, 0.0) for name in names)
    penalties = np.geomspace(1.0, settings.least_penalty, settings.steps)
    _, weights, _ = lasso_path(terms, target, alphas=limit * penalties, max_iter=settings.iterations)
    ranked = [
        _ranked(name, np.abs(weights[row > 0]), penalties)
        for name, row in zip(names, polynomial.powers_.T, strict=True)
    ]
    return tuple(sorted(ranked, key=lambda knob: (-knob.penalty, -knob.weight)))


def rank_by_workloads(
    stored: Sequence[StoredWorkload], names: Sequence[str], settings: RankingSettings | None = None
) -> tuple[RankedKnob, ...]:
    """Ranks knobs by stored workloads, each of whose values count as differences to its own mean.

    Raises:
        SettingError: There is no stored workload, or too little in them.
    """
    if not stored:
        raise SettingError("there is no stored workload to rank knobs by: collect some (`poolpilot learn collect`)")
    points = np.concatenate([workload.points for workload in stored])
    values = np.concatenate([workload.values - workload.values.mean() for workload in stored])
    return rank_knobs(points, values, names, settings)


def _ranked(name: str, weights: Floats, penalties: Floats) -> RankedKnob:
    """From the absolute weights of a knob's terms along the path, (terms, steps)."""
    largest = weights.max(axis=0)
    entered = np.flatnonzero(largest > 0.0)
    if not len(entered):
        return RankedKnob(name, 0.0, 0.0)
    return RankedKnob(name, float(penalties[entered[0]]), float(largest[entered[0]]))


def _standardised(columns: Floats) -> Floats:
    deviation = columns.std(axis=0)
    scale = np.where(deviation > FLAT, 1.0 / np.maximum(deviation, FLAT), 0.0)
    standardised: Floats = (columns - columns.mean(axis=0)) * scale
    return standardised
