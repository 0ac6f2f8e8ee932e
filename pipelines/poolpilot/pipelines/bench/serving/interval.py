"""Means and ratios of interleaved repeats, with 95 % intervals."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the interval it lies in with 95 % confidence.

    Attributes:
        mean: The estimate.
        low: Lower bound.
        high: Upper bound; both are NaN for a single repeat.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Interval":
        """Mean of repeats, by Student's t."""
        return cls(*_bounds(np.asarray(values, dtype=np.float64)))

    @classmethod
    def of_ratio(cls, ours: Sequence[float], theirs: Sequence[float]) -> "Interval":
        """Geometric mean of the ratios of repeats that were measured side by side, by Student's t of the logarithms.

        Raises:
            ValueError: There are not as many of both.
        """
        logs = np.array([np.log(our / their) for our, their in zip(ours, theirs, strict=True)])
        return cls(*(float(np.exp(value)) for value in _bounds(logs)))

    def as_dict(self) -> dict[str, float]:
        """The fields, fit for JSON."""
        return asdict(self)


def _bounds(values: NDArray[np.float64]) -> tuple[float, float, float]:
    mean = float(values.mean())
    if len(values) < 2:
        return mean, float("nan"), float("nan")
    error = float(values.std(ddof=1)) / len(values) ** 0.5
    reach = float(student.ppf(0.5 + CONFIDENCE / 2.0, len(values) - 1)) * error
    return mean, mean - reach, mean + reach
