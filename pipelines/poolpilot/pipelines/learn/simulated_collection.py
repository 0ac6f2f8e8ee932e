"""Simulated sweeps of one's own machine, a few workloads at a time; a workload is in the store whole or not at all.

A few are measured into a store beside, which is taken over once they are complete. So a run that was stopped, whenever
that was, leaves what one leaves that was not.
"""

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.output import terminal
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.collect.staging import SimulatedStaging
from poolpilot.pipelines.learn.host_scenarios import HostScenarios
from poolpilot.pipelines.progress_bars import new_progress
from poolpilot.pipelines.store.records import StagingStore

TOGETHER = 6
"""Workloads that are taken over at once; what a stop loses at most."""

WINDOW_REQUESTS = 1000


class SimulatedCollection:
    """Sweeps scenario after scenario until its time is over or its number reached.

    Args:
        store: Folder of the store.
        scenarios: What is swept.
        console: Where progress is shown.
        clock: Seconds that go on.
    """

    def __init__(
        self,
        store: Path,
        scenarios: HostScenarios,
        console: Console,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store = StagingStore(store)
        self.scenarios = scenarios
        self.console = console
        self._clock = clock
        self._beside = store.with_name(f"{store.name}.part")

    def collected(self) -> int:
        """Workloads that the store holds."""
        return len(set(self.store.windows.scan()["workload_id"].to_pylist()))

    def run(self, first: int, seconds: float, most: int | None) -> int:
        """Collects from a number on; what the store holds already is not measured again.

        Args:
            first: Number of the first scenario.
            seconds: Time after which nothing further is begun.
            most: Scenarios at most; None is no limit.

        Returns:
            Workloads that were taken over.

        Raises:
            KeyboardInterrupt: The user ended it; what was taken over is kept.
            ServerError: Too many in a row cannot be simulated.
            StoreError: The store cannot be written.
        """
        held = set(self.store.windows.scan()["workload_id"].to_pylist())
        ends_s, number, taken = self._clock() + seconds, first, 0
        last = None if most is None else first + most
        with new_progress(self.console) as progress:
            task = progress.add_task("simulating", total=most, shown="")
            while (last is None or number < last) and self._clock() < ends_s:
                upto = number + TOGETHER if last is None else min(number + TOGETHER, last)
                taken += self._taken_over(number, upto, held)
                number = upto
                self._show(progress, int(task), number - first)
        return taken

    def _show(self, progress: Progress, task: int, done: int) -> None:
        progress.update(progress.tasks[task].id, completed=done, shown="workloads")

    def _taken_over(self, first: int, upto: int, held: set[str]) -> int:
        found = [self.scenarios.planned(number) for number in range(first, upto)]
        missing = [(planned, scenario) for planned, scenario in found if planned.workload.name not in held]
        if not missing:
            return 0
        self._clear()
        settings = CollectSettings.of(
            {"store": self._beside, "server": "simulated", "simulated.window_requests": WINDOW_REQUESTS}
        )
        staged = SimulatedStaging({scenario.workload.name: scenario for _, scenario in missing})
        staging = Staging(staged.open, grid=LARGE_GRID, settings_for=staged.settings_for, workers=TOGETHER)
        report = collect(settings, [planned for planned, _ in missing], staging, terminal(quiet=True))
        if report.stopped is not None:
            self._clear()
            raise KeyboardInterrupt(report.stopped)
        if report.complete:
            StagingStore(self._beside).merged_into(self.store.directory, f"simulated-{first}", report.failed)
        self._clear()
        return report.complete

    def _clear(self) -> None:
        shutil.rmtree(self._beside, ignore_errors=True)
