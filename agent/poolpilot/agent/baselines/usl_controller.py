"""Sizes the pool by the Universal Scalability Law: measure a few sizes, fit, set the best, verify, hold."""

import math
from collections.abc import Sequence

import numpy as np
from pydantic import Field

from poolpilot.agent.baselines.usl import LEAST_SIZES, UslFit, fit_usl
from poolpilot.agent.search.observations import MeasuredTuple, Observations
from poolpilot.agent.search.round_controller import RoundController, RoundSettings
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window


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
        chosen = settings or UslSettings()
        observations = Observations(objective, "objective", knobs.allows)
        super().__init__(observations, chosen.samples_per_point, chosen.settle_windows)
        sizes = knobs.knobs["pool_size"]
        self.fit: UslFit | None = None
        """The law as fitted; None before all sizes of the plan were measured."""
        self._low = math.ceil(sizes.low)
        self._high = max(self._low, min(int(sizes.high), chosen.largest_size or int(sizes.high)))
        self._price = objective.price_of_thread
        self.plan = log_spaced(self._low, self._high, chosen.points)
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
        if best in {one.pool_tuple.pool_size for one in comparable}:
            return None
        self.reason = f"size {best} is best by the scalability law and is measured to verify that"
        return _sized(window.pool_tuple, best)

    def _final(self, window: Window) -> PoolTuple:
        comparable = self._comparable(window.pool_tuple)
        if not comparable:
            self.reason = "none of the sizes asked for was ever in force; the one that is stays"
            return window.pool_tuple
        best = max(comparable, key=lambda one: (one.feasible, one.mean)).pool_tuple
        law = "too few sizes were in force for the scalability law"
        if self.fit is not None:
            named = self.fit.best_size(self._low, self._high, self._price)
            law = f"the scalability law names {named}" if named != best.pool_size else "so says the scalability law"
        self.reason = f"size {best.pool_size} is the best of {len(comparable)} measured; {law}"
        return best

    def _comparable(self, in_force: PoolTuple) -> list[MeasuredTuple]:
        """What was measured with the other knobs as they are now, within the sizes allowed."""
        return [
            one
            for one in self.observations.eligible
            if _sized(one.pool_tuple, in_force.pool_size) == in_force
            and self._low <= one.pool_tuple.pool_size <= self._high
        ]

    def _fitted(self, measured: Sequence[MeasuredTuple]) -> UslFit:
        sizes = [one.pool_tuple.pool_size for one in measured]
        goodput = [math.exp(one.mean + self._price * math.log(size)) for one, size in zip(measured, sizes, strict=True)]
        # The noise of a pool is a share of its throughput: every size counts alike.
        return fit_usl(sizes, goodput, errors=goodput)

    def _placed(self, wanted: PoolTuple, in_force: PoolTuple) -> PoolTuple:
        return _sized(in_force, wanted.pool_size)


def log_spaced(low: int, high: int, points: int) -> tuple[int, ...]:
    """Whole sizes from `low` to `high` in equal factors, each once: fewer than `points` where the range is short."""
    return tuple(sorted({round(float(size)) for size in np.geomspace(low, high, points)}))


def _sized(pool_tuple: PoolTuple, size: int) -> PoolTuple:
    return pool_tuple.with_core((size, *pool_tuple.core[1:]))
