"""Many simulated pools measured at once, on all processors, with the GIL released."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from poolpilot.env.knobs import STOCK_MAX_POOL_SIZE
from poolpilot.env.measurement.load_cycles import whole_cycles_s
from poolpilot.env.measurement.settling import SettleSettings, Settling
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated import SimulatedServer, run_all
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.native_pool.simulation import LoadChange, Machine
from poolpilot.native_pool.workload import Workload

Columns = Mapping[str, NDArray[np.float64]]
"""Equally long arrays by name."""

Jobs = Sequence[tuple[int, int]]
"""Places of a scenario and a tuple."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A workload on a modelled machine.

    Attributes:
        workload: What is sent, and on how many processors.
        machine: What the machine and the pool's own work cost.
        changes: Changes of the load, in order of time.
        cycle_s: Seconds after which the changes repeat themselves, so that windows last whole cycles; 0: they do not.
        max_pool_size: Largest pool size that can be set.
        backlog_limit: Arrivals of an open loop that may wait for a connection; the load generator's default if None.
    """

    workload: Workload
    machine: Machine = field(default_factory=Machine)
    changes: tuple[LoadChange, ...] = ()
    cycle_s: float = 0.0
    max_pool_size: int = STOCK_MAX_POOL_SIZE
    backlog_limit: int | None = None

    @property
    def objective(self) -> Objective:
        """What the workload's classes want."""
        return Objective.of_classes(self.workload.classes)

    def open(self, initial: PoolTuple | None = None) -> SimulatedServer:
        """A server of this scenario at time 0.

        Raises:
            SettingError: The tuple or the scenario is outside its range.
        """
        return SimulatedServer(
            self.workload,
            self.machine,
            changes=self.changes,
            cycle_s=self.cycle_s,
            initial=initial,
            max_pool_size=self.max_pool_size,
            backlog_limit=self.backlog_limit,
        )


class SimulatedMeasurement(SettleSettings):
    """How long a tuple is simulated."""

    settle_s: float = Field(
        default=0.02, ge=0.0, description="Seconds dropped at least after a change of the configuration."
    )
    requests: int = Field(default=2000, ge=1, description="Requests answered in a window.")
    most_s: float = Field(default=60.0, gt=0.0, description="Virtual seconds of a window at most.")


def measure_all(
    servers: Sequence[SimulatedServer],
    tuples: Sequence[PoolTuple],
    settings: SimulatedMeasurement,
    threads: int | None = None,
) -> list[Window]:
    """Sets a tuple on each server, drops what settles, and measures a window of each; all servers run at once.

    A fresh server begins to settle once all its connections send; a window before would show how few of them do. Where
    the load repeats itself a window lasts whole cycles, however many requests that are.

    Raises:
        SettingError: A tuple is outside a server's ranges.
        ServerError: A server cannot go on.
        KeyboardInterrupt: The user ended it.
    """
    in_force = [server.apply(pool_tuple) for server, pool_tuple in zip(servers, tuples, strict=True)]
    ramping = [server for server in servers if server.ramp_left_s > 0.0]
    run_all(ramping, [server.ramp_left_s for server in ramping], threads=threads)
    _settle_all(servers, in_force, settings, threads)
    before = [server.snapshot() for server in servers]
    spans = [_span_s(server, pool_tuple, settings) for server, pool_tuple in zip(servers, in_force, strict=True)]
    run_all(servers, [most_s for _, most_s in spans], settings.requests, threads, [least_s for least_s, _ in spans])
    return [Window.between(first, server.snapshot()) for first, server in zip(before, servers, strict=True)]


def _span_s(server: SimulatedServer, pool_tuple: PoolTuple, settings: SimulatedMeasurement) -> tuple[float, float]:
    """Seconds that a window lasts at least and at most."""
    least_s = settings.least_window_s(pool_tuple)
    if server.cycle_s > 0.0:
        whole_s = whole_cycles_s(least_s, server.cycle_s)
        return whole_s, whole_s
    return least_s, max(settings.most_s, least_s)


def _settle_all(
    servers: Sequence[SimulatedServer], tuples: Sequence[PoolTuple], settings: SettleSettings, threads: int | None
) -> None:
    unsettled = [(server, Settling(pool_tuple, settings)) for server, pool_tuple in zip(servers, tuples, strict=True)]
    while unsettled:
        asked = [(server, settling, settling.next_s(server.thread_changes())) for server, settling in unsettled]
        asked = [each for each in asked if each[2] > 0.0]
        run_all([server for server, _, _ in asked], [seconds for _, _, seconds in asked], threads=threads)
        unsettled = [(server, settling) for server, settling, _ in asked]


class SimulationStopped(KeyboardInterrupt):
    """The user ended a batch; what was finished is kept.

    Attributes:
        columns: The columns of the simulations that were finished.
    """

    def __init__(self, columns: Columns) -> None:
        super().__init__("the batch was stopped")
        self.columns = columns


def simulate_batch(
    scenarios: Sequence[Scenario],
    tuples: Sequence[PoolTuple],
    requests: int = 20_000,
    *,
    settings: SimulatedMeasurement | None = None,
    threads: int | None = None,
    together: int = 64,
    on_done: Callable[[int], None] | None = None,
) -> Columns:
    """Simulates every scenario under every tuple, each from a fresh pool.

    Args:
        scenarios: The workloads and their machines.
        tuples: The tuples.
        requests: Requests answered in the window of each.
        settings: How long; `requests` replaces theirs.
        threads: Threads to run on; as many as this process may use processors if None.
        together: Simulations held in memory at a time.
        on_done: Called with the number of simulations finished so far.

    Returns:
        One row per scenario and tuple that its server allows: `scenario`, `tuple` (their places), `pool_size`,
        `oversubscribe`, `timer_interval_ms`, `throughput_per_s`, `goodput_per_s`, `value` (J), `p99_ms` (NaN where
        nothing was completed), `threads`, `cpu_share` (0..1 of all processors), `seconds` and `events` of the window.

    Raises:
        SettingError: There is nothing to simulate, no server allows any of the tuples, or `requests` or `together` is
            below 1.
        ServerError: A pool cannot go on.
        SimulationStopped: The user ended it; it carries the columns so far.
    """
    for name, value in (("requests", requests), ("together", together)):
        if value < 1:
            raise SettingError(f"{name} is {value}, but must be at least 1")
    measurement = (settings or SimulatedMeasurement()).model_copy(update={"requests": requests})
    jobs = [(place, index) for place in range(len(scenarios)) for index in range(len(tuples))]
    if not jobs:
        raise SettingError("there is nothing to simulate: give at least one scenario and one configuration")
    batches = [jobs[first : first + together] for first in range(0, len(jobs), together)]
    columns = _run_batches(batches, lambda batch: _rows(scenarios, tuples, batch, measurement, threads), on_done)
    if not columns:
        _refuse(scenarios[0], tuples[0])
    return columns


def _refuse(scenario: Scenario, first: PoolTuple) -> None:
    """Says why no tuple was simulated, by the first one of the first scenario.

    Raises:
        SettingError: Always, for a tuple that the server does not allow.
    """
    try:
        with scenario.open() as server:
            server.knobs.check(first)
    except SettingError as error:
        raise SettingError(
            f"no server of the scenarios allows any of the configurations; of the first, {error}"
        ) from error


def _run_batches(
    batches: Sequence[Jobs], rows_of: Callable[[Jobs], list[dict[str, float]]], on_done: Callable[[int], None] | None
) -> Columns:
    rows: list[dict[str, float]] = []
    done = 0
    try:
        for batch in batches:
            rows += rows_of(batch)
            done += len(batch)
            if on_done is not None:
                on_done(done)
    except KeyboardInterrupt as stopped:
        raise SimulationStopped(_columns(rows)) from stopped
    return _columns(rows)


def _rows(
    scenarios: Sequence[Scenario],
    tuples: Sequence[PoolTuple],
    jobs: Jobs,
    measurement: SimulatedMeasurement,
    threads: int | None,
) -> list[dict[str, float]]:
    opened = [(scenarios[place].open(), place, index) for place, index in jobs]
    allowed = [(server, place, index) for server, place, index in opened if server.knobs.allows(tuples[index])]
    servers = [server for server, _, _ in allowed]
    windows = measure_all(servers, [tuples[index] for _, _, index in allowed], measurement, threads)
    return [
        _row(scenarios[place], place, index, server, window)
        for (server, place, index), window in zip(allowed, windows, strict=True)
    ]


def _row(scenario: Scenario, place: int, index: int, server: SimulatedServer, window: Window) -> dict[str, float]:
    objective, core = scenario.objective, window.pool_tuple.core
    busy = window.profile.features.get("utilisation")
    return {
        "scenario": float(place),
        "tuple": float(index),
        "pool_size": float(core[0]),
        "oversubscribe": float(core[1]),
        "timer_interval_ms": float(core[2]),
        "throughput_per_s": window.throughput_per_s,
        "goodput_per_s": objective.goodput_per_s(window),
        "value": objective.value(window),
        "p99_ms": math.nan if window.p99_ms is None else window.p99_ms,
        "threads": window.threads or 0.0,
        "cpu_share": busy or 0.0,
        "seconds": window.duration_s,
        "events": float(server.events),
    }


def _columns(rows: Sequence[Mapping[str, float]]) -> Columns:
    names = rows[0].keys() if rows else ()
    return {name: np.array([row[name] for row in rows]) for name in names}
