"""The nearest stored workload: find the one whose profiles are most similar, advise its best tuple.

The idea is the workload mapping of D. Van Aken, A. Pavlo, G. J. Gordon and B. Zhang, "Automatic Database Management
System Tuning Through Large-scale Machine Learning" (OtterTune), SIGMOD 2017 (docs/references.md).
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from poolpilot.agent.baselines.choice import advise, best_allowed
from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.observation import EncodedWindow, encode_window
from poolpilot.errors import SettingError
from poolpilot.featurizer.schema import moments_of_present
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction

FLAT = 1e-6
"""A feature whose standard deviation is below this tells no workloads apart and is left out of the distance."""


class NearestSettings(BaseModel):
    """How the distance between windows is taken."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tuple_weight: float = Field(
        default=1.0,
        ge=0.0,
        description="Weight of the configuration a window was measured under, against all features.",
    )


class NearestWorkload:
    """Maps a workload to the nearest stored one, as OtterTune and AutoTiKV do, and names that one's best tuple.

    The distance of two windows is the mean squared difference of the standardised features both have, plus that of
    their tuples; the distance to a stored workload is the mean over the windows seen of the nearest stored window.

    After D. Van Aken, A. Pavlo, G. J. Gordon and B. Zhang, "Automatic Database Management System Tuning Through
    Large-scale Machine Learning" (OtterTune), SIGMOD 2017, section 6.1 (docs/references.md).

    Args:
        encoded: The stored sweeps.
        settings: How the distance is taken.
    """

    def __init__(self, encoded: EncodedSweeps, settings: NearestSettings) -> None:
        self.encoded = encoded
        self.settings = settings
        _, deviation = moments_of_present(encoded.features, encoded.feature_mask)
        self._scale = np.where(deviation > FLAT, 1.0 / np.maximum(deviation, FLAT), 0.0)
        self._tuple_scale = 1.0 / np.maximum(encoded.tuples.std(axis=0), FLAT)

    @classmethod
    def fit(
        cls, sweeps: Sequence[WorkloadSweep], settings: NearestSettings | None = None, grid: ActionGrid = DEFAULT_GRID
    ) -> Self:
        """Stores the profiles of training sweeps.

        Raises:
            StoreError: There is no sweep.
        """
        return cls(EncodedSweeps.of(sweeps, grid), settings or NearestSettings())

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        """Names a tuple; see `Predictor.predict`."""
        if not windows:
            raise SettingError("a prediction needs at least one window; measure the configuration in force first")
        distances = np.stack([self._distances(encode_window(window, limits, objective)) for window in windows])
        nearest = np.stack([self._per_sweep(row) for row in distances]).mean(axis=0)
        sweep = int(np.argmin(nearest))
        best = self._best_action(sweep, limits)
        stored = self.encoded.windows_of(sweep)
        first = stored[np.argmin(distances[0, stored])]
        gain = float(self.encoded.outcome[sweep, best] - self.encoded.reference[first])
        pool_tuple = self.encoded.grid.tuples[best]
        reason = f"{pool_tuple} was best for the most similar stored workload, {self.encoded.sweeps[sweep].workload_id}"
        return advise(windows, pool_tuple.core, reason, "nearest", gain)

    def _distances(self, window: EncodedWindow) -> NDArray[np.floating]:
        """Distance of a window to every stored one, (W,)."""
        both = self.encoded.feature_mask * window.feature_mask * (self._scale > 0.0)
        squares = np.square((self.encoded.features - window.features) * self._scale) * both
        tuples = np.square((self.encoded.tuples - window.tuple_logs) * self._tuple_scale).mean(axis=1)
        distance: NDArray[np.floating] = squares.sum(axis=1) / np.maximum(both.sum(axis=1), 1.0)
        distance += self.settings.tuple_weight * tuples
        return distance

    def _per_sweep(self, distances: NDArray[np.floating]) -> NDArray[np.floating]:
        nearest = np.full(len(self.encoded), np.inf)
        np.minimum.at(nearest, self.encoded.sweep_of, distances)
        return nearest

    def _best_action(self, sweep: int, limits: KnobSpace) -> int:
        scores = np.where(self.encoded.repeats[sweep] > 0.0, self.encoded.outcome[sweep], np.nan)
        # The oracle was repeated; a tuple dropped early on one lucky window may look better than it is.
        oracle = self.encoded.sweeps[sweep].oracle_tuple
        if oracle in self.encoded.grid.tuples:
            scores[self.encoded.grid.index_of(oracle)] = np.inf
        return best_allowed(np.minimum(scores, np.finfo(np.float32).max), self.encoded.grid, limits)
