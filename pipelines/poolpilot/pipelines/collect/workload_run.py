"""One workload on one server: the sweep, the random tuples and the climbs that collection wants of it."""

import itertools
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.climbing.climb import ClimbController, Climber
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.protocol import Measured, measure, sweep
from poolpilot.env.measurement.settling import settle
from poolpilot.env.measurement.sweep import AGAIN_ROUND, Core
from poolpilot.env.objective import Objective
from poolpilot.env.server import PoolServer
from poolpilot.env.tuning.loop import tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.record import Occasion, RecordContext, measures_of, record_row, window_of
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.store.record_store import RecordStore

Row = Mapping[str, Any]

NewClimber = Callable[[KnobSpace], Climber]
"""Makes a cold climber for a server: it starts at the default size and stays within the range."""


@dataclass(frozen=True)
class MeasuredAlready:
    """What the store holds of a workload.

    Attributes:
        rows: Its rows, in the order measured.
    """

    rows: Sequence[Row] = ()

    def of_kind(self, kind: Occasion) -> list[Row]:
        """Rows measured on one occasion."""
        return [row for row in self.rows if row["kind"] == kind]

    def climbs(self, settings: CollectSettings) -> int:
        """Climbs that went to their horizon; each has a run id of its own."""
        seconds: dict[str, float] = {}
        for row in self.of_kind("climb"):
            seconds[row["run_id"]] = seconds.get(row["run_id"], 0.0) + row["duration_s"]
        enough_s = settings.climb_horizon_s - settings.climb_period_s
        return sum(climbed_s >= enough_s for climbed_s in seconds.values())

    def is_complete(self, settings: CollectSettings, tuples: Collection[Core]) -> bool:
        """Whether nothing is left to measure; tuples are lost where a damaged segment was set aside.

        Args:
            settings: What is wanted.
            tuples: Tuples that the server takes.
        """
        swept = self.of_kind("sweep")
        raced = {core_of(row) for row in swept if row["round"] == 0}
        again = sum(row["round"] == AGAIN_ROUND for row in swept)
        return (
            raced >= set(tuples)
            and again >= settings.racing.oracle_repeats
            and len(self.of_kind("random")) >= settings.random_windows(len(swept))
            and self.climbs(settings) >= settings.climbs
        )


def core_of(row: Row) -> Core:
    """The tuple that a row was measured under."""
    return int(row["pool_size"]), int(row["oversubscribe"]), int(row["timer_interval_ms"])


def measured_of(row: Row) -> Measured:
    """Rebuilds a measured window from its record."""
    return Measured(
        window_of(row), measures_of(row), row["steal_share"], row["settle_s"], row["time_unix_s"], row["round"]
    )


@dataclass
class RecordSink:
    """Collects the rows of a workload and writes them as segments.

    Attributes:
        store: Where to.
        objective: What the windows are evaluated by.
        context: What all rows share.
        after_each: Called once a row is held, for progress and to stop.
        segment_every_s: Longest time that rows wait for their segment.
    """

    store: RecordStore
    objective: Objective
    context: RecordContext
    after_each: Callable[[], None]
    segment_every_s: float
    _rows: list[Row] = field(default_factory=list)
    _since_s: float = field(default_factory=time.monotonic)

    def add(self, measured: Measured, **context: Any) -> None:
        """Takes a window; `context` replaces fields of the shared context."""
        about = replace(
            self.context,
            time_unix_s=measured.time_unix_s,
            steal_share=measured.steal_share,
            settle_s=measured.settle_s,
            **context,
        )
        goodput_per_s, value = self.objective.goodput_per_s(measured.window), self.objective.value(measured.window)
        self._rows.append(
            record_row(measured.window, measured.measures, about, goodput_per_s=goodput_per_s, objective=value)
        )
        if time.monotonic() - self._since_s >= self.segment_every_s:
            self.flush()
        self.after_each()

    def flush(self) -> None:
        """Writes what is held as one segment."""
        if self._rows:
            self.store.append(self._rows, self.context.run_id)
            self._rows.clear()
        self._since_s = time.monotonic()


@dataclass
class WorkloadRun:
    """Measures what is missing of one workload, phase by phase; a stop between two windows loses nothing.

    Attributes:
        server: The server under the workload.
        grid: Tuples to compare.
        settings: What is measured.
        sink: Takes the records.
        rng: Source of the order and of the random tuples.
        new_climber: Makes the climbers.
    """

    server: PoolServer
    grid: ActionGrid
    settings: CollectSettings
    sink: RecordSink
    rng: np.random.Generator
    new_climber: NewClimber

    def run(self, already: MeasuredAlready) -> list[Measured]:
        """Measures until the workload is complete; returns all windows of its sweep."""
        try:
            swept = self._sweep(already)
            self.sink.flush()
            self._draw(len(already.of_kind("random")), self.settings.random_windows(len(swept)))
            for number in range(already.climbs(self.settings), self.settings.climbs):
                self.sink.flush()
                self._climb(number)
            return swept
        finally:
            self.sink.flush()

    @property
    def _tuples(self) -> list[PoolTuple]:
        """Those of the grid that the server takes; where classes have floors the default too, which these are of."""
        mask, default = self.grid.mask(self.server.knobs), self.server.knobs.default_tuple()
        taken = [one for one, allowed in zip(self.grid.tuples, mask, strict=True) if allowed]
        if any(self.sink.objective.min_share.values()) and default.core not in {one.core for one in taken}:
            taken.append(default)
        return [replace(one, idle_timeout_s=self.settings.idle_timeout_s) for one in taken]

    def _sweep(self, already: MeasuredAlready) -> list[Measured]:
        return sweep(
            self.server,
            self._tuples,
            self.sink.objective,
            self.settings.racing,
            self.rng,
            on_measured=lambda one: self.sink.add(one, kind="sweep", round=one.round),
            done=[measured_of(row) for row in already.of_kind("sweep")],
        )

    def _draw(self, first: int, count: int) -> None:
        """Measures tuples drawn uniformly; each window is the context of the next draw."""
        tuples = self._tuples
        for number in range(first, count):
            drawn = tuples[int(self.rng.integers(len(tuples)))]
            measured = measure(self.server, drawn, self.settings.racing)
            self.sink.add(measured, kind="random", round=number, propensity=1.0 / len(tuples))

    def _climb(self, number: int) -> None:
        default = self.server.knobs.default_tuple()
        self.server.apply(default)
        settle(self.server, default, self.settings.racing)
        run_id = f"{self.sink.context.run_id}.climb-{number}"
        rounds = itertools.count()
        tune(
            self.server,
            ClimbController(self.new_climber(self.server.knobs), default, self.sink.objective),
            self.sink.objective,
            period_s=self.settings.climb_period_s,
            horizon_s=self.settings.climb_horizon_s,
            on_step=lambda step: self.sink.add(step.measured, kind="climb", round=next(rounds), run_id=run_id),
        )
