"""Features in units of their spread over the training windows while a network learns, folded into its weights after.

The schema scales every feature over the whole range that any server may show. On one kind of server most of them move
by a few hundredths, and decayed weights cannot tell those apart. Shift and scale are linear and the entry layer sees
the mask beside the features, so its weights take them over exactly: who serves the model knows nothing of this.
"""

import dataclasses
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.agent.encoded_sweeps import EncodedSweeps
from poolpilot.featurizer.schema import moments_of_present
from poolpilot.models.forward import Weights

SMALLEST_SPREAD = 0.02
"""Spread that a feature has at least: what hardly moved in training must not shout in production."""

ENTRY = "entry_in.weight"


@dataclass(frozen=True)
class Standardisation:
    """Mean and spread of every scaled feature where it is present.

    Attributes:
        mean: Shape (F,); 0 where never present.
        spread: Standard deviation, at least `SMALLEST_SPREAD`, (F,); 1 where never present.
    """

    mean: NDArray[np.float32]
    spread: NDArray[np.float32]

    @classmethod
    def of(cls, encoded: EncodedSweeps) -> Self:
        """Measures the windows of all sweeps."""
        mean, spread = moments_of_present(encoded.features, encoded.feature_mask)
        known = encoded.feature_mask.any(axis=0)
        return cls(
            np.where(known, mean, 0.0).astype(np.float32),
            np.where(known, np.maximum(spread, SMALLEST_SPREAD), 1.0).astype(np.float32),
        )

    def applied(self, encoded: EncodedSweeps) -> EncodedSweeps:
        """The same sweeps with standardised features; absent ones stay 0."""
        features = (encoded.features - self.mean) / self.spread * encoded.feature_mask
        return dataclasses.replace(encoded, features=features)

    def folded(self, weights: Weights) -> dict[str, NDArray[np.float32]]:
        """Weights learned on standardised features, as they must be for scaled ones."""
        return self._mapped(weights, 1.0 / self.spread, -self.mean / self.spread)

    def unfolded(self, weights: Weights) -> dict[str, NDArray[np.float32]]:
        """The inverse of `folded`: weights for scaled features, as they must be for standardised ones."""
        return self._mapped(weights, self.spread, self.mean)

    def _mapped(
        self, weights: Weights, scale: NDArray[np.float32], shift: NDArray[np.float32]
    ) -> dict[str, NDArray[np.float32]]:
        """Multiplies the rows of the features and adds what they shift to the rows of the mask."""
        width = len(self.mean)
        entry = weights[ENTRY].copy()
        rows = weights[ENTRY][:, :width]
        entry[:, :width] = rows * scale[:, None]
        entry[:, width : 2 * width] += rows * shift[:, None]
        return {**weights, ENTRY: entry}
