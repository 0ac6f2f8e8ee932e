"""The grid: shapes, scales, starts, noise, and shifts of the workload in mid-run."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STARTS = ("one", "root", "optimum", "largest")
"""Where a run begins: size 1, the root of the scale, the optimum itself, or the largest size."""


@dataclass(frozen=True, slots=True)
class Shift:
    """A change of the workload in the middle of a run.

    Attributes:
        before: Optimum over the scale before it.
        after: Optimum over the scale after it.
        factor: Throughput at the new optimum over that at the old one.
    """

    before: float
    after: float
    factor: float


SHIFTS = {"to fewer threads": Shift(1 / 3, 1 / 12, 0.6), "to more threads": Shift(1 / 12, 1 / 3, 1.0)}
"""Both change what the size that was best gives by 30 % or more, from 32 threads up and on all shapes but the flat."""


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
class CurveCell:
    """One cell of the grid.

    Attributes:
        shape: Name of the curve.
        scale: Largest size.
        noise: Noise of a sample.
        start: One of `STARTS`.
        shift: One of `SHIFTS`; None: the workload stays.
    """

    shape: str
    scale: int
    noise: Noise
    start: str
    shift: str | None = None

    def __str__(self) -> str:
        rest = f"from {self.start}" if self.shift is None else f"shifted {self.shift}"
        return f"{self.shape} of {self.scale}, {self.noise}, {rest}"

    def start_size(self, optimum: int) -> int:
        """Size a run begins at."""
        root = max(1, round(math.sqrt(self.scale)))
        return {"one": 1, "root": root, "optimum": optimum, "largest": self.scale}[self.start]

    def as_dict(self) -> dict[str, str | float | int | None]:
        """The fields, fit for JSON."""
        return {
            "shape": self.shape,
            "scale": self.scale,
            "noise": self.noise.share,
            "correlation": self.noise.correlation,
            "start": self.start,
            "shift": self.shift,
        }


def grid(
    shapes: Sequence[str], scales: Sequence[int], noises: Sequence[Noise], starts: Sequence[str]
) -> list[CurveCell]:
    """Every combination."""
    return [CurveCell(*values) for values in itertools.product(shapes, scales, noises, starts)]


def shifted(shapes: Sequence[str], scales: Sequence[int], noises: Sequence[Noise]) -> list[CurveCell]:
    """Every combination with a shift in mid-run, from the optimum before it."""
    moving = [shape for shape in shapes if shape != "flat"]
    return [CurveCell(*values) for values in itertools.product(moving, scales, noises, ("optimum",), SHIFTS)]
