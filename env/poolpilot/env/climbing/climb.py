"""Climbs: a controller let loose on a server, and what that cost and won."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

from poolpilot.env.measurement.protocol import Measured, observe
from poolpilot.env.objective import Objective, regret
from poolpilot.env.server import AnyServer, Controller
from poolpilot.errors import ServerError
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window


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
    ) -> int:
        """Takes one sample and returns the size to set next."""


class ClimbController:
    """Lets a climber move the pool size and keeps the rest of a tuple.

    Args:
        climber: The climber.
        pool_tuple: Tuple whose other knobs are kept.
        objective: What the climber climbs on: the goodput, or the slope towards it.
    """

    def __init__(self, climber: Climber, pool_tuple: PoolTuple, objective: Objective) -> None:
        self._climber = climber
        self._rest = pool_tuple.core[1:]
        self._objective = objective

    @property
    def period_s(self) -> float:
        """Seconds the climber wants the next window to last; 0 leaves that to the caller."""
        return self._climber.period_s

    def propose(self, window: Window) -> PoolTuple:
        """The tuple to set next."""
        size = self._climber.update(
            self._objective.worth_per_s(window),
            connections_of(window),
            mean_latency_s(window),
            window.pool_tuple.pool_size,
            window.duration_s,
            mean_in_system(window),
        )
        return window.pool_tuple.with_core((size, *self._rest))


@dataclass(frozen=True, slots=True)
class ClimbStep:
    """One window of a climb.

    Attributes:
        end_s: Seconds from the start of the climb to the end of the window.
        measured: The window.
        goodput_per_s: Its goodput.
        value: Its J.
    """

    end_s: float
    measured: Measured
    goodput_per_s: float
    value: float

    @property
    def pool_tuple(self) -> PoolTuple:
        """The tuple it was measured under."""
        return self.measured.window.pool_tuple

    @property
    def duration_s(self) -> float:
        """Length of the window in seconds."""
        return self.measured.window.duration_s


@dataclass(frozen=True, slots=True)
class ClimbTrace:
    """All windows of a climb, in order.

    Attributes:
        steps: The windows.
    """

    steps: tuple[ClimbStep, ...]

    @property
    def duration_s(self) -> float:
        """Length of the climb in seconds."""
        return sum(step.duration_s for step in self.steps)

    @property
    def final_tuple(self) -> PoolTuple:
        """The tuple of the last window."""
        return self.steps[-1].pool_tuple

    @property
    def best_value(self) -> float:
        """Greatest J seen."""
        return max(step.value for step in self.steps)

    def lost(self, oracle_goodput_per_s: float) -> float:
        """Goodput lost on the way: requests the oracle would have completed in time and the climb did not."""
        return sum((oracle_goodput_per_s - step.goodput_per_s) * step.duration_s for step in self.steps)

    def mean_regret(self, oracle_value: float) -> float:
        """Regret averaged over time: the area lost, as a share."""
        area = sum(regret(step.value, oracle_value) * step.duration_s for step in self.steps)
        return area / self.duration_s

    def time_to_stay_within(self, regret_limit: float, regret_at: Callable[[ClimbStep], float]) -> float | None:
        """Seconds until the regret falls under a limit and stays there to the end; None if it never does.

        Args:
            regret_limit: The limit, such as 0.05.
            regret_at: Regret of a step, by its tuple where a sweep knows it, else by its value.
        """
        start_s: float | None = None
        for step in self.steps:
            if regret_at(step) > regret_limit:
                start_s = None
            elif start_s is None:
                start_s = step.end_s - step.duration_s
        return start_s


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
    merged = reduce(lambda left, right: left + right, (one.latency for one in window.classes.values()), Histogram())
    return merged.mean / 1e6


def mean_in_system(window: Window) -> float | None:
    """Mean number of requests that ran or waited, as the server tells or by Little's law; None when nobody knows it."""
    if window.in_system is not None:
        return window.in_system
    return window.throughput_per_s * mean_latency_s(window) if window.classes else None


def run_climb(
    server: AnyServer,
    controller: Controller,
    period_s: float,
    horizon_s: float,
    objective: Objective,
    on_window: Callable[[ClimbStep], None] | None = None,
) -> ClimbTrace:
    """Runs a controller from the tuple in force: a window, a proposal, a change, until the horizon.

    Args:
        server: The server under load.
        controller: What proposes the tuples.
        period_s: Length of a window in seconds where the controller asks for none (`period_s`); nothing is dropped to
            settle, so the climber sees what users see.
        horizon_s: Length of the climb in seconds.
        objective: What the windows are judged by.
        on_window: Called after every window, for a live screen and for records.

    Raises:
        SettingError: The controller proposed a tuple outside the server's ranges.
        ServerError: The server stopped.
    """
    steps: list[ClimbStep] = []
    end_s = 0.0
    while end_s + 0.5 * (wanted_s := getattr(controller, "period_s", 0.0) or period_s) < horizon_s:
        measured = observe(server, wanted_s)
        window = measured.window
        end_s += window.duration_s
        steps.append(ClimbStep(end_s, measured, objective.goodput_per_s(window), objective.value(window)))
        if on_window is not None:
            on_window(steps[-1])
        proposed = controller.propose(window)
        if proposed != window.pool_tuple:
            server.apply(proposed)
    return ClimbTrace(tuple(steps))
