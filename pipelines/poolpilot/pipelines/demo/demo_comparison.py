"""Configurations that took turns under one load: what each is worth, and which the measurement tells apart.

Every round measures each of them once, so a drift of the machine strikes all alike and differences are taken round by
round. The best is the best of all that took part, so nothing loses less than nothing to it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective
from poolpilot.featurizer.window import Window

T_BY_ROUNDS = {3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36}
"""97.5 % quantiles of Student's t for the differences of so many rounds."""

LEAST_ROUNDS, MOST_ROUNDS = min(T_BY_ROUNDS), max(T_BY_ROUNDS)
"""After fewer rounds nothing is told apart: after two, only a difference of thirteen errors would count."""


@dataclass(frozen=True)
class DemoComparison:
    """What was measured.

    Attributes:
        objective: What counts.
        rounds: Windows by core tuple, a mapping for every round.
    """

    objective: Objective
    rounds: Sequence[Mapping[Core, Window]]

    @cached_property
    def cores(self) -> tuple[Core, ...]:
        """What took part."""
        return tuple(self.rounds[0])

    @cached_property
    def _values(self) -> NDArray[np.float64]:
        """J, shape (rounds, configurations)."""
        return np.array([[self.objective.value(each[core]) for core in self.cores] for each in self.rounds])

    @cached_property
    def best(self) -> Core:
        """What has the greatest mean J."""
        return self.cores[int(np.argmax(self._values.mean(axis=0)))]

    def windows(self, core: Core) -> list[Window]:
        """The windows of one configuration."""
        return [each[core] for each in self.rounds]

    def goodput_per_s(self, core: Core) -> float:
        """Mean goodput a second."""
        return float(np.mean([self.objective.goodput_per_s(window) for window in self.windows(core)]))

    def regret(self, core: Core) -> float:
        """Share of the best one's objective that a configuration loses: 0 for the best, and never below."""
        return -math.expm1(-float(self._behind(core).mean()))

    def error(self, core: Core) -> float:
        """Standard error of its distance to the best, in J; 0 for the best, infinite after one round."""
        behind = self._behind(core)
        if core == self.best:
            return 0.0
        return float(behind.std(ddof=1) / math.sqrt(len(behind))) if len(behind) > 1 else math.inf

    def told_apart(self, core: Core) -> bool:
        """Whether it is shown to be worse than the best (paired t-test, 2.5 % one-sided)."""
        if core == self.best or len(self.rounds) < LEAST_ROUNDS:
            return False
        return float(self._behind(core).mean()) > T_BY_ROUNDS[min(len(self.rounds), MOST_ROUNDS)] * self.error(core)

    @property
    def noise(self) -> float:
        """Standard deviation of J between windows of one configuration, pooled; 0 after one round."""
        return math.sqrt(float(self._values.var(axis=0, ddof=1).mean())) if len(self.rounds) > 1 else 0.0

    def _behind(self, core: Core) -> NDArray[np.float64]:
        """How far it is behind the best in J, round by round."""
        values: NDArray[np.float64] = self._values
        return values[:, self.cores.index(self.best)] - values[:, self.cores.index(core)]
