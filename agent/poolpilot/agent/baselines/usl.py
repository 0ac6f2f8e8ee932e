"""Sizes the pool by Gunther's Universal Scalability Law: measure a few sizes, fit, set the best, verify, hold.

N. J. Gunther, *Guerrilla Capacity Planning*, Springer 2007, chapters 4 to 6 (docs/references.md).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.optimize import least_squares, nnls

from poolpilot.agent.search.observations import MeasuredTuple, Observations
from poolpilot.agent.search.round_controller import RoundController, RoundSettings
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

LEAST_SIZES = 3
"""Distinct sizes that three parameters need."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class UslFit:
    """X(N) = scale * N / (1 + contention * (N - 1) + coherency * N * (N - 1)).

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
    if not all(bool(np.all(np.isfinite(numbers) & (numbers > 0.0))) for numbers in (size, rate, error)):
        raise SettingError("sizes, throughputs and errors must be finite and above 0")


class UslSettings(RoundSettings):
    """Which sizes are measured before the fit."""

    points: int = Field(
        default=6,
        ge=LEAST_SIZES,
        description="Pool sizes measured, log-spaced from the smallest allowed to the largest.",
    )
    samples_per_point: int = Field(default=3, ge=1, description="Windows by which a size is evaluated.")
    largest_size: int | None = Field(
        default=None, ge=1, description="Largest pool size to try; none is the largest that the server allows."
    )


class UslController(RoundController):
    """Measures a plan of sizes, fits the law to their goodput, sets its best, and ends on the best that it measured.

    The other knobs stay as they are; where somebody changes one, only what was measured with its new value counts.

    Args:
        knobs: The knobs of the server and their ranges.
        objective: Its goodput is what is fitted, its price of a thread what a further group must earn.
        settings: Which sizes are measured.
    """

    def __init__(self, knobs: KnobSpace, objective: Objective, settings: UslSettings | None = None) -> None:
        settings = settings or UslSettings()
        observations = Observations(objective, "objective", knobs.allows)
        super().__init__(observations, settings.samples_per_point, settings.settle_windows)
        sizes = knobs.knobs["pool_size"]
        self.fit: UslFit | None = None
        """The law as fitted; None before all sizes of the plan were measured."""
        self._low = math.ceil(sizes.low)
        self._high = max(self._low, min(int(sizes.high), settings.largest_size or int(sizes.high)))
        self._price = objective.price_of_thread
        self.plan = log_spaced(self._low, self._high, settings.points)
        """The sizes measured, rising."""

    def _next(self, window: Window) -> PoolTuple | None:
        if self.rounds_done < len(self.plan):
            size = self.plan[self.rounds_done]
            self.reason = (
                f"size {size}, {self.rounds_done + 1} of {len(self.plan)}, is measured for the scalability law"
            )
            return _sized(window.pool_tuple, size)
        if self.fit is not None:
            return None
        comparable = self._comparable(window.pool_tuple)
        if len(comparable) < LEAST_SIZES:
            return None
        self.fit = self._fitted(comparable)
        best = self.fit.best_size(self._low, self._high, self._price)
        if best in {measured.pool_tuple.pool_size for measured in comparable}:
            return None
        self.reason = f"size {best} is best by the scalability law and is measured to verify that"
        return _sized(window.pool_tuple, best)

    def _final(self, window: Window) -> PoolTuple:
        comparable = self._comparable(window.pool_tuple)
        if not comparable:
            self.reason = "none of the sizes asked for was ever in force; the one that is stays"
            return window.pool_tuple
        best = max(comparable, key=lambda measured: (measured.feasible, measured.mean)).pool_tuple
        law = "too few sizes were in force for the scalability law"
        if self.fit is not None:
            named = self.fit.best_size(self._low, self._high, self._price)
            law = f"the scalability law names {named}" if named != best.pool_size else "so says the scalability law"
        self.reason = f"size {best.pool_size} is the best of {len(comparable)} measured; {law}"
        return best

    def _comparable(self, in_force: PoolTuple) -> list[MeasuredTuple]:
        """What was measured with the other knobs as they are now, within the sizes allowed."""
        return [
            measured
            for measured in self.observations.eligible
            if _sized(measured.pool_tuple, in_force.pool_size) == in_force
            and self._low <= measured.pool_tuple.pool_size <= self._high
        ]

    def _fitted(self, measured: Sequence[MeasuredTuple]) -> UslFit:
        sizes = [each.pool_tuple.pool_size for each in measured]
        goodput = [
            math.exp(each.mean + self._price * math.log(size)) for each, size in zip(measured, sizes, strict=True)
        ]
        # The noise of a pool is a share of its throughput: every size counts alike.
        return fit_usl(sizes, goodput, errors=goodput)

    def _placed(self, wanted: PoolTuple, in_force: PoolTuple) -> PoolTuple:
        return _sized(in_force, wanted.pool_size)


def log_spaced(low: int, high: int, points: int) -> tuple[int, ...]:
    """Whole sizes from `low` to `high` in equal factors, each once: fewer than `points` where the range is short."""
    return tuple(sorted({round(float(size)) for size in np.geomspace(low, high, points)}))


def _sized(pool_tuple: PoolTuple, size: int) -> PoolTuple:
    return pool_tuple.with_core((size, *pool_tuple.core[1:]))
