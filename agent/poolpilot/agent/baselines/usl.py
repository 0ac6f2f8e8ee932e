"""Gunther's Universal Scalability Law, fitted to throughputs at a few pool sizes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, nnls

from poolpilot.errors import SettingError

LEAST_SIZES = 3
"""Distinct sizes that three parameters need."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class UslFit:
    """X(N) = scale * N / (1 + contention * (N - 1) + coherency * N * (N - 1)).

    N. J. Gunther, "Guerrilla Capacity Planning", Springer 2007, chapters 4 to 6.

    Attributes:
        scale: Throughput at size 1, completions a second.
        contention: Share of the work that cannot run side by side, at least 0.
        coherency: Price of every pair that must agree, at least 0.
    """

    scale: float
    contention: float
    coherency: float

    def throughput_per_s(self, size: float) -> float:
        """Throughput at a pool size, completions a second."""
        return self.scale * size / (1.0 + self.contention * (size - 1.0) + self.coherency * size * (size - 1.0))

    def best_size(self, low: int, high: int, price_of_thread: float = 0.0) -> int:
        """Whole size in `low..high` that maximises ln X(N) - price * ln N; the smallest of equals.

        Setting the derivative to zero gives (1 - e)(1 - a) - e (a - b) N - (1 + e) b N^2 = 0, which without a price
        is N = sqrt((1 - a) / b).

        Args:
            low: Smallest size allowed.
            high: Largest size allowed.
            price_of_thread: Per cent of throughput that one per cent more groups must buy.
        """
        contention, coherency, price = self.contention, self.coherency, price_of_thread
        roots = np.roots(
            [
                (1.0 + price) * coherency,
                price * (contention - coherency),
                -(1.0 - price) * (1.0 - contention),
            ]
        )
        inside = [float(root.real) for root in roots if root.imag == 0.0 and low < root.real < high]
        sizes = sorted({low, high, *map(math.floor, inside), *map(math.ceil, inside)})
        return max(sizes, key=lambda size: math.log(self.throughput_per_s(size)) - price * math.log(size))


def fit_usl(sizes: Sequence[float], throughputs: Sequence[float], errors: Sequence[float] | None = None) -> UslFit:
    """Fits the law by least squares with all parameters at least 0.

    Args:
        sizes: Pool sizes, at least three distinct ones.
        throughputs: Completions a second at each, above 0.
        errors: Standard error of each, above 0; all alike if None.

    Raises:
        SettingError: There are too few sizes, the lengths differ, or a value is not above 0.
    """
    size, rate = np.asarray(sizes, np.float64), np.asarray(throughputs, np.float64)
    error = np.ones_like(rate) if errors is None else np.asarray(errors, np.float64)
    _check(size, rate, error)
    unit = float(rate.max())
    rate, error = rate / unit, error / error.mean()

    def residuals(parameters: Floats) -> Floats:
        fitted: Floats = (parameters[0] * size / (_load(size) @ [1.0, *parameters[1:]]) - rate) / error
        return fitted

    refined = least_squares(
        residuals, _start(size, rate, error), bounds=(0.0, np.inf), method="dogbox", xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    scale, contention, coherency = map(float, refined.x)
    return UslFit(scale * unit, contention, coherency)


def _load(size: Floats) -> Floats:
    """What 1, contention and coherency are multiplied by, (n, 3)."""
    return np.stack([np.ones_like(size), size - 1.0, size * (size - 1.0)], axis=1)


def _start(size: Floats, rate: Floats, error: Floats) -> Floats:
    """N / X is linear in 1/g, a/g and b/g: without noise this is the answer, with noise a good place to start."""
    weight: Floats = np.square(rate) / (size * error)
    inverse, contention, coherency = nnls(_load(size) * weight[:, None], size / rate * weight)[0]
    if inverse <= 0.0:
        return np.array([float(np.max(rate / size)), 0.0, 0.0])
    start: Floats = np.array([1.0, contention, coherency]) / inverse
    return start


def _check(size: Floats, rate: Floats, error: Floats) -> None:
    if not len(size) == len(rate) == len(error):
        raise SettingError("a fit needs one throughput, and one error if any, for every size")
    if len(np.unique(size)) < LEAST_SIZES:
        raise SettingError(
            f"the scalability law needs {LEAST_SIZES} distinct sizes, and {len(np.unique(size))} were given"
        )
    if not all(bool(np.all(np.isfinite(one) & (one > 0.0))) for one in (size, rate, error)):
        raise SettingError("sizes, throughputs and errors must be finite and above 0")
