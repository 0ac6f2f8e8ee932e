"""A climber of the pool size as a controller: what a window says, in the four numbers that climbers use.

Any climber will do: ours, or those after .NET, MongoDB and others in `native_pool/climb/baselines/`.
"""

from functools import reduce
from typing import Protocol

from poolpilot.env.climbing.best_seen import BestSeen
from poolpilot.env.controller import Controller, Trial
from poolpilot.env.objective import Objective
from poolpilot.errors import ServerError
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

HOLDING = "OPTIMIZED"
"""Mode of a climber of ours that has found what it was looking for."""


class Climber(Protocol):
    """A hill climber on the pool size, such as `native_pool.SpectralClimber`."""

    @property
    def period_s(self) -> float:
        """Seconds the next sample should last; 0 leaves that to the caller."""

    def update(
        self,
        throughput: float,
        connections: float,
        latency_s: float,
        size: int,
        duration_s: float,
        in_system: float | None,
        completed_per_s: float | None = None,
    ) -> int:
        """Takes one sample and returns the size to set next.

        What is climbed on (`throughput`) may be worth far less than what was completed.
        """


class ClimbController(Controller):
    """Lets a climber move the pool size and keeps the rest of a tuple.

    Args:
        climber: The climber.
        pool_tuple: Tuple to start from, whose other knobs are kept.
        objective: What the climber climbs on: the goodput, or the slope towards it, within floors and limits.
        reference: What floors are shares of; the first window unless one is given.
    """

    def __init__(
        self, climber: Climber, pool_tuple: PoolTuple, objective: Objective, reference: Window | None = None
    ) -> None:
        self.climber = climber
        """What is climbed with."""
        self._rest = pool_tuple.core[1:]
        self._next = pool_tuple
        self._seen = BestSeen(objective, reference)

    def suggest(self) -> Trial:
        """The size that the climber has asked for, for as long as it wants to see it."""
        return Trial(self._next, self.climber.period_s or None)

    def observe(self, window: Window) -> None:
        """Takes a window as one sample of the climber."""
        size = self.climber.update(
            self._seen.add(window, self._next),
            connections_of(window),
            mean_latency_s(window),
            window.pool_tuple.pool_size,
            window.duration_s,
            mean_in_system(window),
            window.throughput_per_s,
        )
        self._next = window.pool_tuple.with_core((size, *self._rest))

    def recommend(self) -> PoolTuple | None:
        """What the climber holds; while it still looks, the best that it has seen lately, not what it asks for next."""
        holds = getattr(self.climber, "mode", "") == HOLDING
        return self._next if holds else self._seen.pool_tuple


def connections_of(window: Window) -> float:
    """Number of clients, which a climber divides by.

    Raises:
        ServerError: The server does not count them.
    """
    connections = window.profile.features.get("connections")
    if connections is None:
        raise ServerError(
            "snapshots of this server lack the gauge 'connections', the number of clients: no climb moves"
        )
    return float(connections)


def mean_latency_s(window: Window) -> float:
    """Mean latency of all classes in seconds; 0 when nothing completed."""
    merged = reduce(
        lambda left, right: left + right, (of_class.latency for of_class in window.classes.values()), Histogram()
    )
    return merged.mean / 1e6


def mean_in_system(window: Window) -> float | None:
    """Mean number of requests that ran or waited, as the server tells or by Little's law; None when nobody knows it."""
    if window.in_system is not None:
        return window.in_system
    return window.throughput_per_s * mean_latency_s(window) if window.classes else None
