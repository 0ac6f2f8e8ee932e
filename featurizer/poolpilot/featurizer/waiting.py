"""Where the connections of a window wait, and so how much a pool's configuration can bring at most.

A configuration shortens the time that requests wait for the pool, or that running threads take from one another.
Nothing else. Both are numbers of connections, by Little's law: requests a second times seconds each.

* **For the pool** waits what is queued, and what arrives while its group has no listener. MariaDB counts the first
  alone. The second is reckoned as in a queue M/G/1: arrivals meet a group without a listener with probability p, and
  wait for what is left of the round in progress and, where groups are busy, for the rounds behind it, 1 / (1 - p).
* **For one another** running threads wait for rows, for latches and for a processor.

Of N connections a share f = W/N waits. Were all of them alike, no configuration would give more than 1 / (1 - f) times
the completions. They are not: who sends short requests beside long ones waits more than others, and completes more once
it does not. So f counts with its square, 1 / (1 - f - f^2), which one of 440 recorded sweeps exceeds beyond two
standard errors (docs/results-mariadb.md).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from poolpilot.featurizer.window import Window

ROUNDS_LEFT = 1.0
"""What is left of a round in progress, in mean rounds, on servers that do not time theirs: of rounds that vary as much
as their mean. Those that last from one look at the groups to the next are seen (`STANDING`)."""

LONGEST_ROUND = 1.5
"""Stall limits after which the timer has given a group a listener again, on average at most."""

LEAST_WAITING = 0.1
"""Connections that wait on average below which a few readings a second cannot tell how many do: time in the system that
fewer would save is none that can be shown."""

UNHEARD = "unlistened_connections_mean"
STANDING = "standing_connections_mean"
"""Indicators of a MariaDB: connections whose group had no listener, and those whose group polled nothing between two
looks either."""

NEEDED = ("connections", "completed_per_s", "active_threads_mean", "queue_length_mean")


@dataclass(frozen=True, slots=True)
class Waiting:
    """Mean numbers of connections of one window.

    Attributes:
        connections: All of them.
        served: Those whose request runs, or waits for something that no configuration changes.
        for_pool: Those whose request waits for a thread of the pool.
        contending: Those whose request waits for what another running thread holds: a row, a latch, a processor. None
            where the server does not show it.
    """

    connections: float
    served: float
    for_pool: float
    contending: float | None

    @classmethod
    def of(cls, window: "Window") -> Self | None:
        """Those of a window; None where the server does not count what they need."""
        features = {name: value for name, value in window.profile.features.items() if value is not None}
        if any(name not in features for name in NEEDED) or features["connections"] <= 0.0:
            return None
        connections, queued = features["connections"], features["queue_length_mean"]
        busy = max(features["active_threads_mean"], features.get("utilisation", 0.0) * features.get("cpus", 0.0))
        inside = max(window.in_system or 0.0, features.get("in_system", 0.0), busy + queued)
        outside = max(connections - inside, 0.0)
        unheard = _unheard(window, features, busy, outside)
        return cls(
            connections,
            max(inside - queued, 0.0),
            min(queued + unheard, connections),
            _contending(window, features, busy),
        )

    @property
    def most_by_threads(self) -> float:
        """The most that more threads can bring, in ln completions: all that waits for the pool."""
        return _most(self.for_pool, self.connections)

    @property
    def most_by_fewer(self) -> float:
        """The most that fewer threads can bring, in ln completions; infinite where contention is not shown."""
        return math.inf if self.contending is None else _most(self.for_pool + self.contending, self.connections)

    @property
    def most_in_time_by_threads(self) -> float:
        """The most that more threads can bring, in ln of the inverse of the time in the system."""
        return self._most_in_time(self.for_pool)

    @property
    def most_in_time_by_fewer(self) -> float:
        """The same of fewer threads; infinite where contention is not shown."""
        if self.contending is None:
            return math.inf
        return self._most_in_time(self.for_pool + min(self.contending, self.served))

    def _most_in_time(self, waiting: float) -> float:
        return 0.0 if waiting < LEAST_WAITING else _log_ratio(waiting, self.served + self.for_pool)


def _most(waiting: float, connections: float) -> float:
    return _log_ratio(waiting * (1.0 + waiting / connections), connections)


def _log_ratio(part: float, whole: float) -> float:
    """Ln of whole / (whole - part); infinite where the part is all of it."""
    if part <= 0.0:
        return 0.0
    return math.log(whole / (whole - part)) if part < whole else math.inf


def _unheard(window: "Window", features: Mapping[str, float], busy: float, outside: float) -> float:
    """Connections outside the pool whose request waits in a group without a listener."""
    seen, connections = window.indicators.get(UNHEARD), features["connections"]
    reached = busy / window.pool_tuple.pool_size if seen is None else seen / connections
    if reached >= 1.0:
        return outside
    standing = window.indicators.get(STANDING, 0.0)
    left_s = _left_of_a_round_s(window, features, busy, timed=seen is not None)
    if left_s is None:
        return reached * outside
    arrivals = features.get("active_round_us_count_per_s", features["completed_per_s"])
    return min(standing + arrivals * reached * left_s / (1.0 - reached), outside)


def _left_of_a_round_s(window: "Window", features: Mapping[str, float], busy: float, *, timed: bool) -> float | None:
    """What is left of a round that an arrival meets, in seconds; None where nobody can tell."""
    mean_us, longest_s = features.get("active_round_us_mean"), LONGEST_ROUND * window.pool_tuple.timer_interval_ms / 1e3
    if mean_us is not None:
        spread = features.get("active_round_us_cv", 1.0)
        return min(mean_us * (1.0 + spread**2) / 2e6, longest_s)
    if not timed:
        return None
    completed = features["completed_per_s"]
    return min(ROUNDS_LEFT * busy / completed, longest_s) if completed > 0.0 else longest_s


def _contending(window: "Window", features: Mapping[str, float], busy: float) -> float | None:
    """Connections whose request waits for what another running thread holds; None where that is not shown."""
    completed = features["completed_per_s"]
    taken = min(busy / features.get("cpus", 1.0), 1.0)  # else another program has the processor
    if (delay_us := features.get("run_delay_us_mean")) is not None:
        latches = features.get("latch_wait_us_per_request", 0.0) * completed
        return (taken * delay_us * features.get("active_round_us_count_per_s", completed) + latches) / 1e6
    rows_us = window.indicators.get("row_lock_wait_us_per_request")
    if rows_us is None and features.get("waits_row_lock_per_request", 0.0) > 0.0:
        return None
    delayed_us = window.indicators.get("threads_run_delay_us_per_request")
    delayed = busy if delayed_us is None else min(delayed_us * completed / 1e6, busy)
    return (rows_us or 0.0) * completed / 1e6 + taken * delayed
