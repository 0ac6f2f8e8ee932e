"""The grid: shapes, scales, starts and noise."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STARTS = ("one", "root", "optimum", "largest")
"""Where a run begins: size 1, the root of the scale, the optimum itself, or the largest size."""


@dataclass(frozen=True, slots=True)
class Noise:
    """Noise of one sample's throughput.

    Attributes:
        share: Standard deviation of its logarithm.
        correlation: Correlation of neighbouring samples.
    """

    share: float
    correlation: float = 0.0

    def draw(self, samples: int, seed: int) -> NDArray[np.float64]:
        """Factors on the throughput, (samples,); the same seed gives the same."""
        fresh = np.random.default_rng(seed).standard_normal(samples)
        if self.correlation > 0.0:
            innovation = np.sqrt(1.0 - self.correlation**2)
            for index in range(1, samples):
                fresh[index] = self.correlation * fresh[index - 1] + innovation * fresh[index]
        return np.exp(self.share * fresh)

    def __str__(self) -> str:
        text = f"{100 * self.share:g} %"
        return f"{text} correlated" if self.correlation > 0.0 else text


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the grid.

    Attributes:
        shape: Name of the curve.
        scale: Largest size.
        noise: Noise of a sample.
        start: One of `STARTS`.
    """

    shape: str
    scale: int
    noise: Noise
    start: str

    def start_size(self, optimum: int) -> int:
        """Size a run begins at."""
        sizes = {"one": 1, "root": max(1, round(self.scale**0.5)), "optimum": optimum, "largest": self.scale}
        return sizes[self.start]

    def as_dict(self) -> dict[str, str | float | int]:
        """The fields, fit for JSON."""
        return {
            "shape": self.shape,
            "scale": self.scale,
            "noise": self.noise.share,
            "correlation": self.noise.correlation,
            "start": self.start,
        }


def grid(shapes: Sequence[str], scales: Sequence[int], noises: Sequence[Noise], starts: Sequence[str]) -> list[Cell]:
    """Every combination."""
    return [Cell(*values) for values in itertools.product(shapes, scales, noises, starts)]
