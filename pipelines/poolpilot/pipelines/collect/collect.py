"""Collection: sweeps, random tuples and climbs over planned workloads, resumable, into the record store."""

import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Sequence, Set
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
from rich.console import Console

from poolpilot.durability.folder_lock import locked_folder
from poolpilot.env.action_grid import DEFAULT_GRID, ActionGrid
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal
from poolpilot.env.server import PoolServer
from poolpilot.env.workloads.families import PlannedWorkload, W
from poolpilot.errors import ServerError, SettingError, StoreError
from poolpilot.featurizer.record import TIMER
from poolpilot.pipelines.collect.collect_report import CollectReport, outcome_line, progress_bar
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.collect.servers import new_spectral_climber, open_native
from poolpilot.pipelines.collect.stopping import Stopped, StopRequest
from poolpilot.pipelines.collect.workload_record import shared_context, workload_row
from poolpilot.pipelines.collect.workload_run import MeasuredAlready, NewClimber, RecordSink, WorkloadRun
from poolpilot.pipelines.store.dataset import limits_of, one_grid, pool_timer
from poolpilot.pipelines.store.records import StagingStore


def _as_they_are(_: Any, settings: CollectSettings) -> CollectSettings:
    return settings


def _open_native(workload: Any) -> PoolServer:
    return open_native(workload)


def _of_classes(workload: Any) -> Objective:
    return Objective.of_classes(workload.classes)


@dataclass(frozen=True)
class Staging(Generic[W]):
    """What a collection measures with.

    Attributes:
        open_server: Starts a server under a workload; it is closed by its context.
        new_climber: Makes a cold climber for a server.
        grid: Tuples to compare.
        settings_for: What is measured of a workload, given the settings of the collection.
        objective_of: What counts under a workload.
        workers: Workloads measured at once; on a live server they would disturb each other.
    """

    open_server: Callable[[W], PoolServer] = _open_native
    new_climber: NewClimber = new_spectral_climber
    grid: ActionGrid = DEFAULT_GRID
    settings_for: Callable[[W, CollectSettings], CollectSettings] = _as_they_are
    workers: int = 1
    objective_of: Callable[[W], Objective] = _of_classes


def collect(
    settings: CollectSettings,
    planned: Sequence[PlannedWorkload[W]] | None = None,
    staging: Staging[W] | None = None,
    console: Console | None = None,
) -> CollectReport:
    """Measures every planned workload that the store does not hold yet.

    The first Ctrl-C (or the time budget) stops after the window being measured; all that was measured is kept, and
    the next run with the same settings goes on where this one ended.

    Args:
        settings: What to measure and where to keep it.
        planned: The workloads; those of the settings if None.
        staging: What to measure with; live pools on this machine if None.
        console: Where progress is shown.

    Raises:
        TakenFolderError: Another process collects into the store.
        StoreError: The store holds other definitions of these workloads, another grid or windows of an older timer, or
            cannot be written.
        ServerError: Too many workloads failed in a row.
    """
    workloads: Any = settings.planned() if planned is None else list(planned)
    measured_with = staging or Staging(grid=settings.action_grid)
    with locked_folder(settings.store, "collects"):
        return _Collection(settings, workloads, measured_with, console or terminal()).run()


class _Collection(Generic[W]):
    def __init__(
        self, settings: CollectSettings, planned: list[PlannedWorkload[W]], staging: Staging[W], console: Console
    ) -> None:
        self.settings = settings
        self.planned = planned
        self.staging = staging
        self.store = StagingStore(settings.store)
        self.definitions = self.store.workload_rows()
        self.already = self._grouped_rows()
        self.run_id = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
        self.report = CollectReport(settings.store, len(planned))
        self.stop = StopRequest(settings.time_budget_s)
        self.attempted = self.failed_in_a_row = self.expected = 0
        self.in_vain: Set[str] = frozenset()
        self.progress = progress_bar(console)
        self.task = self.progress.add_task("collecting")

    def run(self) -> CollectReport:
        todo = [one for one in self.planned if not self._is_complete(one)]
        self.report.complete = len(self.planned) - len(todo)
        self.in_vain = self._tried_in_vain({one.workload.name for one in todo})
        begun_s = time.monotonic()
        with self.stop, self.progress:
            try:
                self._attempt_all(todo)
            except Stopped as stopped:
                self.report.stopped = str(stopped)
        self.report.duration_s = time.monotonic() - begun_s
        self.report.torn, self.report.digest = self.store.torn, self.store.digest
        return self.report

    def _grouped_rows(self) -> dict[str, MeasuredAlready]:
        if self.definitions and one_grid(self.store.directory, self.definitions.values()) != self.staging.grid:
            raise StoreError(
                f"the store {self.store.directory} holds another grid of configurations: collect into a new one"
            )
        planned = {one.workload.name for one in self.planned}
        grouped = defaultdict(list)
        for row in self.store.window_rows():
            if pool_timer(row) not in (TIMER, None):
                raise StoreError(
                    f"the store {self.store.directory} holds windows of an older timer of the pool "
                    f"({row['timer']}; today's is {TIMER}): collect into a new directory"
                )
            if row["workload_id"] in planned:
                grouped[row["workload_id"]].append(row)
        return {workload_id: MeasuredAlready(rows) for workload_id, rows in grouped.items()}

    def _is_complete(self, planned: PlannedWorkload[W]) -> bool:
        definition = self.definitions.get(planned.workload.name)
        if definition is None:
            return False
        mask = self.staging.grid.mask(limits_of(definition))
        wanted = {one.core for one, allowed in zip(self.staging.grid.tuples, mask, strict=True) if allowed}
        return self._already(planned).is_complete(self.settings, wanted)

    def _tried_in_vain(self, todo: Set[str]) -> Set[str]:
        """Workloads to do that are planned before one that is complete: an earlier run has tried and passed them."""
        complete = [place for place, one in enumerate(self.planned) if one.workload.name not in todo]
        return todo & {one.workload.name for one in self.planned[: max(complete, default=0)]}

    def _already(self, planned: PlannedWorkload[W]) -> MeasuredAlready:
        return self.already.get(planned.workload.name, MeasuredAlready())

    def _attempt_all(self, todo: Sequence[PlannedWorkload[W]]) -> None:
        self.expected = self.settings.expected_windows(len(self.staging.grid))
        self.progress.update(self.task, total=self.expected * len(todo))
        if self.staging.workers == 1:
            for planned in todo:
                self._attempt(planned)
            return
        with ThreadPoolExecutor(self.staging.workers) as workers:
            try:
                for attempt in as_completed([workers.submit(self._attempt, planned) for planned in todo]):
                    attempt.result()
            except BaseException:
                workers.shutdown(cancel_futures=True)
                raise

    def _attempt(self, planned: PlannedWorkload[W]) -> None:
        self.stop.check()
        name = planned.workload.name
        self.progress.update(self.task, description=name, completed=self.expected * self.attempted, refresh=True)
        try:
            self._measure(planned)
            self.report.complete += 1
            self.failed_in_a_row = 0
        except (ServerError, SettingError) as error:
            self.failed_in_a_row += name not in self.in_vain  # what always fails says nothing of the server
            self.report.failed[name] = str(error)
            self.progress.console.print(f"{name} failed: {error}", soft_wrap=True)
            if self.failed_in_a_row >= self.settings.failures_in_a_row:
                raise ServerError(
                    f"{self.failed_in_a_row} workloads failed in a row, the last with: {error}"
                ) from error
        finally:
            self.attempted += 1

    def _measure(self, planned: PlannedWorkload[W]) -> None:
        workload, already = planned.workload, self._already(planned)
        settings = self.staging.settings_for(workload, self.settings)
        objective = self.staging.objective_of(workload)
        rng = np.random.default_rng([self.settings.seed, workload.seed, len(already.rows)])
        with self.staging.open_server(workload) as server:
            limits = server.knobs
            self._define(planned, limits, objective)
            sink = RecordSink(
                self.store.windows,
                objective,
                shared_context(planned, self.settings.machine, self.settings.server, self.run_id),
                self._after_each,
                self.settings.segment_every_s,
            )
            run = WorkloadRun(server, self.staging.grid, settings, sink, rng, self.staging.new_climber)
            swept = run.run(already)
        sweep = WorkloadSweep.build(
            [(one.round, one.window) for one in swept],
            workload_id=workload.name,
            family=workload.family,
            split=planned.split,
            limits=limits,
            objective=objective,
        )
        done = f"{self.report.complete + 1} of {self.report.planned}"
        self.progress.console.print(f"{done}: {outcome_line(sweep)}", soft_wrap=True)

    def _define(self, planned: PlannedWorkload[W], limits: KnobSpace, objective: Objective) -> None:
        name = planned.workload.name
        row = workload_row(planned, limits, objective, self.staging.grid)
        if name not in self.definitions:
            self.store.workloads.append([row], self.run_id)
            self.definitions[name] = row
        differing = [column for column, value in row.items() if self.definitions[name][column] != value]
        if differing:
            raise StoreError(
                f"the store {self.settings.store} holds workload {name!r} with another {differing[0]}; "
                "collect into a new directory"
            )

    def _after_each(self) -> None:
        self.report.windows += 1
        self.progress.update(self.task, advance=1, refresh=True)
        self.stop.check()
