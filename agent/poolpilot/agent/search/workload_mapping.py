"""Workload mapping: find the stored workload whose metrics are most similar and learn from it too.

D. Van Aken, A. Pavlo, G. J. Gordon and B. Zhang, "Automatic Database Management System Tuning Through Large-scale
Machine Learning" (OtterTune), SIGMOD 2017, section 6.1 (docs/references.md). For every stored workload a Gaussian
process a metric says what the metric, in bins, would have been at the points measured now; the distance to it is that
of those to the metrics seen, averaged over the metrics both have.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern

from poolpilot.agent.search.stored_workload import StoredWorkload
from poolpilot.errors import SettingError

Floats = NDArray[np.float64]

EXPONENTIAL = 0.5
"""Smoothness at which a Matern kernel is exp(-distance / length), the kernel of OtterTune."""

SAME_POINT = 1e-9
"""Points nearer than this are one tuple."""


class MappingSettings(BaseModel):
    """How workloads are compared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bins: int = Field(default=10, ge=2, description="Bins of equal share a metric is cut into; ten are deciles.")
    length_scale: float = Field(
        default=0.3, gt=0.0, description="Distance in the unit cube over which a stored metric stays alike."
    )
    ridge: float = Field(
        default=0.01, gt=0.0, description="Noise of stored metrics and values, as a share of their variance."
    )


class WorkloadMapping:
    """Maps the workload at hand to the nearest stored one; see the head of this file.

    Args:
        stored: The stored workloads, in one search space.
        settings: How they are compared.

    Raises:
        SettingError: There is no stored workload, or they are not of one space.
    """

    def __init__(self, stored: Sequence[StoredWorkload], settings: MappingSettings | None = None) -> None:
        if not stored:
            raise SettingError("there is no stored workload to map to; collect some first (`poolpilot learn collect`)")
        if len({(workload.points.shape[1], workload.metrics.shape[1]) for workload in stored}) > 1:
            raise SettingError("the stored workloads differ in their knobs or metrics; encode them in one space")
        self.stored = tuple(stored)
        self.settings = settings or MappingSettings()
        self._edges = _edges(np.concatenate([workload.metrics for workload in stored]), self.settings.bins)
        self._known = [_present(workload.metrics) for workload in stored]
        self._metrics = [
            self._process(workload.points, self._binned(workload.metrics)[:, known]) if known.any() else None
            for workload, known in zip(stored, self._known, strict=True)
        ]

    def distances(self, points: Floats, metrics: Floats) -> Floats:
        """Distance to every stored workload, (S,); infinite where no metric is shared.

        Args:
            points: Points measured now, (n, d).
            metrics: Metrics under each, NaN where one is missing, (n, m).
        """
        seen = _present(metrics)
        binned = self._binned(metrics)
        distances = np.full(len(self.stored), np.inf)
        for index, (process, known) in enumerate(zip(self._metrics, self._known, strict=True)):
            shared = known & seen
            if process is None or not shared.any():
                continue
            predicted = process.predict(points).reshape(len(points), -1)[:, shared[known]]
            distances[index] = np.linalg.norm(predicted - binned[:, shared], axis=0).mean()
        return distances

    def nearest(self, points: Floats, metrics: Floats) -> StoredWorkload | None:
        """The stored workload of the least distance; None where no metric is shared; see `distances`."""
        distances = self.distances(points, metrics)
        best = int(np.argmin(distances))
        return self.stored[best] if np.isfinite(distances[best]) else None

    def joined(self, points: Floats, metrics: Floats, values: Floats) -> tuple[Floats, Floats]:
        """What was measured now, (n, d) and (n,), and after it what the nearest stored workload adds.

        Its values are shifted by the mean difference to those measured now, since the same workload is faster on a
        faster machine; where both have a point, what was measured now stands alone.
        """
        nearest = self.nearest(points, metrics)
        if nearest is None:
            return points, values
        expected = self._process(nearest.points, nearest.values).predict(points)
        # A stored value at a point measured now would be a second, staler opinion on the same thing.
        gaps = np.abs(nearest.points[:, None] - points[None]).max(axis=2).min(axis=1)
        new = gaps > SAME_POINT
        shifted = nearest.values[new] + float(np.mean(values - expected))
        return np.concatenate([points, nearest.points[new]]), np.concatenate([values, shifted])

    def _binned(self, metrics: Floats) -> Floats:
        """Number of the bin of every metric, (n, m); missing ones get one too, which nobody looks at."""
        binned: Floats = (metrics[:, None] > self._edges[None]).sum(axis=1).astype(np.float64)
        return binned

    def _process(self, points: Floats, outcomes: Floats) -> GaussianProcessRegressor:
        kernel = Matern(length_scale=self.settings.length_scale, length_scale_bounds="fixed", nu=EXPONENTIAL)
        regressor = GaussianProcessRegressor(kernel, alpha=self.settings.ridge, optimizer=None, normalize_y=True)
        regressor.fit(points, outcomes)
        return regressor


def _present(metrics: Floats) -> NDArray[np.bool_]:
    """Which metrics no row lacks, (m,)."""
    present: NDArray[np.bool_] = np.isfinite(metrics).min(axis=0)
    return present


def _edges(metrics: Floats, bins: int) -> Floats:
    """Inner edges of bins of equal share, (bins - 1, m); infinite for a metric that nobody has."""
    edges = np.full((bins - 1, metrics.shape[1]), np.inf)
    shares = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    for column in np.flatnonzero(np.isfinite(metrics).any(axis=0)):
        edges[:, column] = np.nanquantile(metrics[:, column], shares)
    return edges
