"""A day of a server in virtual time: workloads that shift, come back and drift."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self, TypeVar

import numpy as np

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.featurizer.window import classes_between
from poolpilot.native_pool.simulation import LoadChange
from poolpilot.native_pool.workload import Workload
from poolpilot.serve.tuner.machine.evidence.tuner_observation import mean_tail_ms, tails_of

DAY_FAMILIES = (
    *("short_beside_long", "silent_single", "silent_then_latch", "cpu_with_think", "silent_beside_cpu"),
    *("silent_and_reported", "short_beside_silent_long", "page_faults", "three_sorts", "orders_beside_cpu"),
    "mixture_of_one",
)
"""Families whose day takes seconds to simulate: those of thousands of requests a second take minutes."""

BIN_S = 30.0
"""Seconds by which the day is judged."""

DRIFT_EVERY_S, DRIFT_FAR = 900.0, 0.15
"""Seconds from one change of the pauses to the next, and how far they go."""

Count = TypeVar("Count", float, Histogram)


@dataclass(frozen=True)
class Day:
    """What a day brings.

    Attributes:
        workloads: The workloads, by phase number.
        shifts: When which workload begins, in order; the first one at 0 s.
        length_s: Its length.
        seed: Seed of the drift.
    """

    workloads: tuple[Workload, ...]
    shifts: tuple[tuple[float, int], ...]
    length_s: float
    seed: int

    @classmethod
    def draw(cls, seed: int, hours: float) -> Self:
        """Draws a day: three workloads in eight shifts, so that each comes back."""
        rng = np.random.default_rng(seed)
        names = rng.choice(DAY_FAMILIES, 3, replace=False)
        drawn = [draw_workload(FAMILIES[str(name)], int(rng.integers(1, 10_000))) for name in names]
        cpus = int(rng.choice([1, 2, 4]))
        workloads = tuple(replace(each, cpus=cpus) for each in drawn)
        length_s = 3600.0 * hours
        shifts = [(0.0, 0)]
        for begin in np.sort(rng.uniform(0.02, 0.98, 7)) * length_s:
            others = [number for number in range(3) if number != shifts[-1][1]]
            shifts.append((float(begin), int(rng.choice(others))))
        return cls(workloads, tuple(shifts), length_s, seed)

    def phase_at(self, at_s: float) -> int:
        """The workload at a time."""
        return next(phase for begin_s, phase in reversed(self.shifts) if begin_s <= at_s)


class DayServer:
    """A pool server that lives through a day.

    Args:
        day: The day.
        initial: What its configuration file says; the default where None.

    Attributes:
        bins: Requests completed in each `BIN_S` of the day.
        latency_ms: The 95th percentile of latency in each of them, the geometric mean over classes; 0 where none ended.
        changes: How often a tuple was set.
    """

    def __init__(self, day: Day, initial: PoolTuple | None = None) -> None:
        self.day = day
        self.bins = np.zeros(int(day.length_s // BIN_S) + 1)
        self.latency_ms = np.zeros_like(self.bins)
        self.changes = 0
        self._counters: dict[str, float] = {}
        self._histograms: dict[str, Histogram] = {}
        self._at_edge: Mapping[str, Histogram] = {}
        self._at_s, self._epoch = 0.0, 0
        self._left = list(day.shifts[1:])
        self._phase = day.shifts[0][1]
        self._pool = self._opened(initial or KnobSpace.stock(day.workloads[0].cpus).default_tuple())

    @property
    def knobs(self) -> KnobSpace:
        """See `PoolServer`."""
        return self._pool.knobs

    def tuple_in_force(self) -> PoolTuple:
        """See `PoolServer`."""
        return self._pool.tuple_in_force()

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        """See `PoolServer`."""
        if pool_tuple != self._pool.tuple_in_force():
            self.changes += 1
            self._epoch += 1
        return self._pool.apply(pool_tuple)

    def run_for(self, seconds: float) -> None:
        """Lets the day go on; shifts that fall into this time happen."""
        ends_s = self._at_s + seconds
        while self._left and self._left[0][0] < ends_s:
            begin_s, phase = self._left.pop(0)
            self._run_until(begin_s)
            self._shift(phase)
        self._run_until(ends_s)

    def run_requests(self, requests: int, most_s: float, least_s: float = 0.0) -> None:  # noqa: ARG002
        """See `VirtualTime`; runs for the longest time."""
        self.run_for(most_s)

    def thread_changes(self) -> float:
        """See `VirtualTime`."""
        return self._pool.thread_changes()

    def snapshot(self) -> Snapshot:
        """What was counted since the day began, whatever workload sent it."""
        now = self._pool.snapshot()
        return replace(
            now,
            time_s=self._at_s,
            tuple_epoch=self._epoch,
            counters=_added(self._counters, now.counters),
            histograms=_added(self._histograms, now.histograms),
        )

    def at_s(self) -> float:
        """The time of the day; see `Clock`."""
        return self._at_s

    def unix_s(self) -> float:
        """The same, for who wants the wall clock; see `Clock`."""
        return self._at_s

    def close(self) -> None:
        """See `PoolServer`."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run_until(self, at_s: float) -> None:
        while self._at_s < at_s:
            edge_s = (self._at_s // BIN_S + 1) * BIN_S
            seconds = min(edge_s, at_s) - self._at_s
            before = self._completed()
            self._pool.run_for(seconds)
            here = min(int(self._at_s // BIN_S), len(self.bins) - 1)
            self.bins[here] += self._completed() - before
            self._at_s = min(edge_s, at_s)
            if self._at_s == edge_s:
                self.latency_ms[here] = self._latency_since_edge_ms()

    def _latency_since_edge_ms(self) -> float:
        now = _added(self._histograms, self._pool.snapshot().histograms)
        before, self._at_edge = self._at_edge, now
        tails_ms = tails_of(classes_between(before, now, BIN_S))
        return mean_tail_ms(tails_ms) if tails_ms else 0.0

    def _completed(self) -> float:
        return float(self._pool.snapshot().counters["completed"])

    def _shift(self, phase: int) -> None:
        in_force, last = self._pool.tuple_in_force(), self._pool.snapshot()
        self._counters = _added(self._counters, last.counters)
        self._histograms = _added(self._histograms, last.histograms)
        self._phase = phase
        self._pool = self._opened(in_force)

    def _opened(self, initial: PoolTuple) -> SimulatedServer:
        return SimulatedServer(self.day.workloads[self._phase], initial=initial, changes=drift_of(self.day, self._at_s))


def drift_of(day: Day, begin_s: float) -> Sequence[LoadChange]:
    """Pauses that wander by the hour of the day, as seen by a pool that was opened at a time."""
    rng = np.random.default_rng([day.seed, 7])
    factors = np.exp(DRIFT_FAR * rng.standard_normal(int(day.length_s // DRIFT_EVERY_S) + 2))
    return [
        LoadChange(at_s=number * DRIFT_EVERY_S - begin_s, think_factor=float(factor))
        for number, factor in enumerate(factors)
        if number * DRIFT_EVERY_S > begin_s
    ]


def _added(first: Mapping[str, Count], second: Mapping[str, Count]) -> dict[str, Count]:
    return {**first, **second, **{name: first[name] + second[name] for name in first.keys() & second.keys()}}
