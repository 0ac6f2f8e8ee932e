"""What a search knows: the tuples measured so far with their metrics, AutoTiKV's data model (docs/references.md)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from poolpilot.agent.encoded_sweeps import INFEASIBLE_PENALTY
from poolpilot.env.climbing.climb import mean_latency_s
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import scaled
from poolpilot.featurizer.window import Window

Goal = Literal["objective", "throughput", "latency"]
"""What a search maximises: J, the logarithm of the throughput, or minus the logarithm of the mean latency."""

SHORTEST_S = 1e-6
"""Latencies below this count as this, so that the logarithm exists."""


@dataclass(frozen=True, slots=True)
class MeasuredTuple:
    """All windows of one tuple, summed up as they come: a search may never end, and looks back at sums alone.

    Attributes:
        pool_tuple: The tuple.
        count: Windows measured under it.
        mean: Mean of the target over them.
        feasible_count: Windows that keep the constraints.
        metrics: Mean scaled features, NaN where one was missing, (F,).
    """

    pool_tuple: PoolTuple
    count: int
    mean: float
    feasible_count: int
    metrics: NDArray[np.float64]

    @property
    def feasible(self) -> bool:
        """Whether at least half of the windows keep the constraints."""
        return 2 * self.feasible_count >= self.count

    @property
    def value(self) -> float:
        """The mean of the target, less a penalty where the constraints are broken."""
        return penalised(self.mean, self.feasible)

    def joined(self, other: "MeasuredTuple") -> "MeasuredTuple":
        """Both together."""
        count = self.count + other.count
        share = other.count / count
        return MeasuredTuple(
            self.pool_tuple,
            count,
            self.mean + share * (other.mean - self.mean),
            self.feasible_count + other.feasible_count,
            self.metrics + share * (other.metrics - self.metrics),
        )


class Observations:
    """Pairs of tuple and metrics, which grow window by window.

    Args:
        objective: What counts; its constraints hold whatever the target.
        target: What is maximised.
        allowed: Which tuples may be the best; others are recorded all the same.
    """

    def __init__(self, objective: Objective, target: Goal, allowed: Callable[[PoolTuple], bool]) -> None:
        self._objective = objective
        self._target: Goal = target
        self._allowed = allowed
        self._by_tuple: dict[PoolTuple, MeasuredTuple] = {}
        self._reference: Window | None = None

    def __len__(self) -> int:
        return len(self._by_tuple)

    def refer_to(self, window: Window) -> None:
        """Takes a window for the reference of the constraints."""
        self._reference = window

    def add(self, window: Window) -> None:
        """Takes in a window; the first one is the reference of the constraints, unless there is one.

        Raises:
            SettingError: The target is latency and the server does not tell it.
        """
        self._reference = self._reference or window
        feasible = self._objective.feasible(window, self._reference)
        worth = target_value(window, self._objective, self._target)
        added = MeasuredTuple(window.pool_tuple, 1, worth, int(feasible), scaled(window.profile.features))
        known = self._by_tuple.get(window.pool_tuple)
        self._by_tuple[window.pool_tuple] = added if known is None else known.joined(added)

    @property
    def measured(self) -> tuple[MeasuredTuple, ...]:
        """All tuples measured, in the order of their first windows."""
        return tuple(self._by_tuple.values())

    @property
    def eligible(self) -> tuple[MeasuredTuple, ...]:
        """Those of them that may be the best."""
        return tuple(measured for measured in self.measured if self._allowed(measured.pool_tuple))

    @property
    def best(self) -> MeasuredTuple | None:
        """The best so far, feasible before infeasible; None before an allowed tuple was measured."""
        return max(self.eligible, key=lambda measured: (measured.feasible, measured.mean), default=None)


def penalised(value: float, feasible: bool) -> float:
    """A value by which feasible and infeasible tuples can be compared on one scale."""
    return value if feasible else value - INFEASIBLE_PENALTY


def target_value(window: Window, objective: Objective, target: Goal) -> float:
    """What a search maximises, in units of a natural logarithm.

    Raises:
        SettingError: The target is latency and the server does not tell it.
    """
    if target == "objective":
        return objective.value(window)
    if target == "throughput":
        return math.log(max(window.throughput_per_s, objective.goodput_floor_per_s))
    return -math.log(max(_latency_s(window), SHORTEST_S))


def _latency_s(window: Window) -> float:
    """Mean latency, else the mean time in the system; where nothing came back, what one request would have had."""
    in_system = window.profile.features.get("in_system") if window.in_system is None else window.in_system
    if window.throughput_per_s <= 0.0:
        return window.duration_s * max(in_system or 1.0, 1.0)  # Little's law, of fewer than one request
    if window.classes:
        return mean_latency_s(window)
    if in_system is None:
        raise SettingError("this server tells neither latency nor requests in the system; choose another target")
    return in_system / window.throughput_per_s
