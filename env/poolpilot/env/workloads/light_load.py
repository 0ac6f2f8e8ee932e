"""Light and half load: clients that pause, so that a server has been asked for a part of what it can give at best.

What a server gives at best is bounded by its processors, disks and latches (`demand.py`), and what it gives by default
also by its groups, where waits are not told. As many connections send as keep the busiest of these busy to the share
that is wanted, so that nothing depends on how long the pauses are.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from poolpilot.env.servers.simulated_measurement import Scenario
from poolpilot.env.workloads.demand import Demand
from poolpilot.env.workloads.ingredients import log_uniform
from poolpilot.native_pool.simulation import LoadChange
from poolpilot.native_pool.workload import RequestClass

Shape = Literal["pauses", "sleepers", "bursts"]
"""All connections pause; most hardly ever send; all send more in two seconds of ten."""

SHAPES: tuple[Shape, ...] = get_args(Shape)
SHARES = (0.05, 0.2, 0.5, 0.8)
"""Shares of what a server can give at best that are offered; of bursts, in the burst."""

PAUSE_MS = (5.0, 200.0)
"""Pauses that are drawn: no longer than the first requests of a closed loop are spread over, lest these be a burst."""

MOST_CONNECTIONS = 4096
SLEEPERS_FOR_EACH = (2.0, 30.0)
"""Connections that do not send for each one that does."""

BURST_PERIOD_S, BURST_PART = 10.0, 0.2
CALM_FACTOR = 10.0
"""Between bursts pauses are so many times as long."""

MOST_OF_A_CYCLE, FEWEST_OF_A_WINDOW, MOST_CYCLES = 100_000.0, 4000.0, 6
"""Requests of a cycle above which bursts come ten times as often, and those of a window below which it holds more
cycles, up to so many."""

PLANNED_S = 300.0
"""Changes of the load are planned that far."""


@dataclass(frozen=True, slots=True)
class LightLoad:
    """A share of what a server can give at best, and how it is offered.

    Attributes:
        shape: How.
        share: The share, in a burst where there are bursts.
        of_default: Whether it is a share of what the default tuple gives, not of what the best one does.
    """

    shape: Shape
    share: float
    of_default: bool = False

    def on(self, scenario: Scenario, rng: np.random.Generator) -> Scenario:
        """The scenario with pauses in all its classes and as many connections as the share takes."""
        workload = scenario.workload
        groups = workload.cpus if self.of_default else None
        demand = Demand(workload.classes, scenario.machine, workload.cpus, groups)
        period_s, cycles = self._burst_cycles(demand)
        shorter = period_s / BURST_PERIOD_S / CALM_FACTOR if cycles else 1.0
        think_ms, sending = self._population(demand, log_uniform(rng, *PAUSE_MS) * shorter)
        silent = round(sending * log_uniform(rng, *SLEEPERS_FOR_EACH)) if self.shape == "sleepers" else 0
        connections = min(sending + silent, max(MOST_CONNECTIONS, sending))
        drawn = {"load_share": self.share, "think_ms": think_ms, "connections": float(connections)}
        loaded = replace(
            workload,
            classes=pausing(workload.classes, think_ms),
            connections=connections,
            parameters={**workload.parameters, **drawn},
        )
        changes = _changes(sending, connections, period_s)
        return replace(scenario, workload=loaded, changes=changes, cycle_s=cycles * period_s)

    def _population(self, demand: Demand, think_ms: float) -> tuple[float, int]:
        """Pause and connections that send; the pause changes where these must be whole, and not too many."""
        wanted, alone_ms = self.share / demand.busy_share(think_ms), demand.alone_ms()
        sending = min(max(math.ceil(wanted), len(demand.classes)), MOST_CONNECTIONS)
        fitting_ms = (think_ms + alone_ms) * sending / wanted - alone_ms
        # So many connections can send no more than they do without a pause: then that is what is given at best.
        return (fitting_ms if fitting_ms > 0.0 else alone_ms * (1.0 / self.share - 1.0)), sending

    def _burst_cycles(self, demand: Demand) -> tuple[float, int]:
        """Seconds from one burst to the next, and how many of these a window should hold; (0, 0) without bursts."""
        if self.shape != "bursts":
            return 0.0, 0
        asked = BURST_PERIOD_S * (BURST_PART + (1.0 - BURST_PART) / CALM_FACTOR) * self._rate_per_s(demand)
        if asked > MOST_OF_A_CYCLE:
            return BURST_PERIOD_S / 10.0, 1
        return BURST_PERIOD_S, min(max(math.ceil(FEWEST_OF_A_WINDOW / asked), 1), MOST_CYCLES)

    def _rate_per_s(self, demand: Demand) -> float:
        """Requests a second that the share is, outside of the calm."""
        long_ms = 1e6
        return self.share / demand.busy_share(long_ms) * 1e3 / (long_ms + demand.alone_ms())


def pausing(classes: tuple[RequestClass, ...], think_ms: float) -> tuple[RequestClass, ...]:
    """The classes with one pause for all; 0 for none."""
    return tuple(replace(one, think_ms=think_ms) for one in classes)


def _changes(sending: int, connections: int, period_s: float) -> tuple[LoadChange, ...]:
    silent = (LoadChange(at_s=0.0, connections=sending),) if sending < connections else ()
    if not period_s:
        return silent
    starts_s = [number * period_s for number in range(round(PLANNED_S / period_s))]
    return silent + tuple(
        LoadChange(at_s=start_s + after_s, think_factor=factor)
        for start_s in starts_s
        for after_s, factor in ((0.0, 1.0), (BURST_PART * period_s, CALM_FACTOR))
    )
