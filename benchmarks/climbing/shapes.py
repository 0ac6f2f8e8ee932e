"""Curves of throughput over pool size whose optimum is known."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PER_THREAD_PER_S = 1000.0
"""Throughput at the optimum for each size of the scale: enough that no controller's floor is reached."""


def arch(size: Floats, optimum: float) -> Floats:
    """Rises to a smooth optimum and falls beyond it."""
    return 1.0 / (1.0 + 0.5 * np.log(size / optimum) ** 2)


def roof(size: Floats, optimum: float) -> Floats:
    """Rises and falls with constant elasticities, with an edge at the optimum."""
    away = np.log(size / optimum)
    return np.exp(np.where(away < 0.0, 0.9 * away, -0.5 * away))


def collapse(size: Floats, optimum: float) -> Floats:
    """Rises like a roof and collapses beyond, as a latch does that more threads fight for."""
    away = np.log(size / optimum)
    return np.exp(np.where(away < 0.0, 0.9 * away, -1.5 * away))


def knee(size: Floats, optimum: float) -> Floats:
    """Rises in proportion to the knee and stays there: light load."""
    return np.minimum(1.0, size / optimum)


def soft_knee(size: Floats, optimum: float) -> Floats:
    """Gunther's law: rises ever more slowly to the optimum and falls ever so slightly beyond."""
    contention = min(0.99, 2.0 / max(optimum, 1.0))
    coherency = (1.0 - contention) / optimum**2

    def law(at: Floats) -> Floats:
        return at / (1.0 + contention * (at - 1.0) + coherency * at * (at - 1.0))

    return law(size) / law(np.array([optimum]))


def flat(size: Floats, optimum: float) -> Floats:  # noqa: ARG001
    """The same at every size."""
    return np.ones_like(size)


SHAPES: Mapping[str, Callable[[Floats, float], Floats]] = {
    "arch": arch,
    "roof": roof,
    "collapse": collapse,
    "knee": knee,
    "soft_knee": soft_knee,
    "flat": flat,
}


@dataclass(frozen=True)
class Landscape:
    """What every size of a pool gives, without noise.

    Attributes:
        throughputs_per_s: By size, from 1; index 0 is size 1.
        price_of_thread: e in J = ln(throughput) - e ln(size).
    """

    throughputs_per_s: Floats
    price_of_thread: float

    @classmethod
    def of(cls, shape: str, scale: int, price_of_thread: float, optimum_share: float = 1 / 3) -> "Landscape":
        """A shape over sizes 1..scale with its optimum at a share of the scale."""
        optimum = max(1.0, round(optimum_share * scale))
        curve = SHAPES[shape](np.arange(1.0, scale + 1.0), optimum)
        return cls(PER_THREAD_PER_S * scale * curve, price_of_thread)

    def scaled(self, factor: float) -> "Landscape":
        """The same with every throughput multiplied."""
        return Landscape(factor * self.throughputs_per_s, self.price_of_thread)

    @property
    def scale(self) -> int:
        """Largest size."""
        return len(self.throughputs_per_s)

    @cached_property
    def regrets(self) -> Floats:
        """1 - exp(J - best J) by size: the share of the objective lost."""
        sizes = np.arange(1.0, self.scale + 1.0)
        values = np.log(self.throughputs_per_s) - self.price_of_thread * np.log(sizes)
        regrets: Floats = 1.0 - np.exp(values - values.max())
        return regrets

    @property
    def optimum(self) -> int:
        """Size of the best objective; the smallest of equals."""
        return int(np.argmin(self.regrets)) + 1
