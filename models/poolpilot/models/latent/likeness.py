"""How like known workloads a server's windows look: ratios under the same configuration, compared in their spreads.

A window of the server under tuple u is compared with what each known workload looked like under the reference
configuration nearest to u. Let d_s be the mean over windows and over the ratios that both sides have of the squared
difference in spreads. A curve counts by a Gaussian kernel of it,

    exp(-d_s / (2 bandwidth^2)),

as in the regression of Nadaraya (1964) and Watson (1964). Where fewer than `fewest` curves count so, by their effective
number 1 / sum w_s^2, the bandwidth grows until as many do: a few that agree by chance are no evidence. A part of the
prior, `doubt`, is spread over all curves whatever they look like: the server may run what the library has nothing like.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.knobs import KnobSpace
from poolpilot.featurizer.waiting import Waiting
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.ratios import ratios_of
from poolpilot.models.latent.response_curves import ResponseCurves

WIDER, WIDEST = 1.15, 5.0
"""By what factor a bandwidth grows until enough workloads count, and how far."""

SATURATED = math.log(2.0)
"""What can be gained, in ln completions, from which on a server is asked for all that it can give."""

NOTHING_SHARED = 1.0
"""Squared distance, in spreads, between a window and a workload that have no ratio in common."""


class LikenessSettings(BaseModel):
    """How far what the windows of a workload look like counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bandwidth: float = Field(
        gt=0.0, description="Distance of ratios, in spreads, at which a known workload counts for less."
    )
    fewest: float = Field(
        default=0.0,
        ge=0.0,
        description="Known workloads that must count, by effective number, however far away.",
    )
    doubt: float = Field(default=0.0, ge=0.0, le=1.0, description="Part of the prior that no likeness decides.")


def curves_like(curves: ResponseCurves, windows: Sequence[Window]) -> ResponseCurves:
    """The curves that count for a server: those of light load only where its windows show that little is waited for.

    Under a saturated server they are flat curves of other servers, whatever they look like; they would take from every
    promise and every trial.
    """
    seen = [Waiting.of(window) for window in windows]
    bounds = [math.inf if each is None else max(each.most_by_threads, each.most_by_fewer) for each in seen]
    return curves if max(bounds) < SATURATED else curves.saturated


def squared_distances(curves: ResponseCurves, windows: Sequence[Window], limits: KnobSpace) -> NDArray[np.float64]:
    """Mean squared distance of the windows to every curve, in spreads, (S,); infinite where nothing can be compared."""
    found = []
    for window in windows:
        known = curves.ratios_by_reference[curves.grid.nearest_reference(limits, window.pool_tuple)]
        squares, count = known.squared_differences(ratios_of(window.profile.features))
        if count.any():
            found.append(_means(squares, count))
    if not found:
        return np.full(len(curves.curves), np.inf)
    distances: NDArray[np.float64] = np.mean(found, axis=0)
    return distances


def prior_by_likeness(
    curves: ResponseCurves, windows: Sequence[Window], limits: KnobSpace, settings: LikenessSettings
) -> NDArray[np.float64]:
    """Weight of every curve before any answer, (S,): every family alike, by how like the windows they look."""
    return prior_by_distance(curves, squared_distances(curves, windows, limits), settings)


def prior_by_distance(
    curves: ResponseCurves, distances: NDArray[np.float64], settings: LikenessSettings
) -> NDArray[np.float64]:
    """The same where the squared distances are known, (S,); what no distance tells apart is alike."""
    nearest = distances.min()
    further = distances - nearest if np.isfinite(nearest) else np.zeros_like(distances)
    bandwidth = settings.bandwidth
    alike = _alike(curves.prior, further, bandwidth)
    while 1.0 / np.square(alike).sum() < settings.fewest and bandwidth < WIDEST:
        bandwidth *= WIDER
        alike = _alike(curves.prior, further, bandwidth)
    prior: NDArray[np.float64] = (1.0 - settings.doubt) * alike + settings.doubt * curves.prior
    return prior


def _alike(prior: NDArray[np.float64], further: NDArray[np.float64], bandwidth: float) -> NDArray[np.float64]:
    """Weights by the kernel of a bandwidth, (S,); they add up to 1."""
    weights: NDArray[np.float64] = prior * np.exp(-further / (2.0 * bandwidth**2))
    weights /= weights.sum()
    return weights


def _means(squares: NDArray[np.float64], count: NDArray[np.float64]) -> NDArray[np.float64]:
    means: NDArray[np.float64] = np.where(count > 0, squares / np.maximum(count, 1.0), NOTHING_SHARED)
    return means
