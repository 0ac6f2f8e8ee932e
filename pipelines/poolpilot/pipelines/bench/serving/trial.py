"""One trial: a fresh server, a load on it, one window or several slices in which both are read."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from poolpilot.featurizer.histogram import Histogram
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.load_report import LoadReport
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.bench.serving.load_switch import LoadSwitch
from poolpilot.pipelines.bench.serving.served import PoolProcess, Served
from poolpilot.pipelines.bench.serving.usage import ProcessUsage

Measures = dict[str, float]
"""What one trial measured, by name."""

Window = tuple[LoadReport, LoadReport]
"""What the load had met at its beginning, and at its end."""


@dataclass
class RunningTrial:
    """A server under its load.

    Attributes:
        server: The server.
        load: Its load.
        switch: Stops the load, and lets it go on.
        alone: What the server had used before there was any load.
        windows: What the load met in each window.
        usages: What the server had used at the beginning and at the end of each.
    """

    server: PoolProcess
    load: Load
    switch: LoadSwitch
    alone: ProcessUsage
    windows: list[Window] = field(default_factory=list)
    usages: list[tuple[ProcessUsage, ProcessUsage]] = field(default_factory=list)

    def run(self, seconds: float) -> None:
        """Measures one window.

        Raises:
            LoadError: The load has ended.
        """
        before, first = self.load.report(), ProcessUsage.of(self.server.pid)
        self.load.run_for(seconds)
        self.windows.append((before, self.load.report()))
        self.usages.append((first, ProcessUsage.of(self.server.pid)))

    def measure(self, seconds: float) -> None:
        """Lets the load go on, measures a slice, and stops it again.

        Raises:
            LoadError: The load has ended.
        """
        self.switch.go_on()
        self.run(seconds)
        self.switch.stop()

    def measures(self) -> Measures:
        """What was measured, all windows together."""
        counters = self.server.call("snapshot").get("counters", {})
        requests = sum(after.completed - before.completed for before, after in self.windows)
        last = self.usages[-1][1]
        return {
            **throughputs(self.windows),
            **costs(self.usages, requests, sum(after.time_s - before.time_s for before, after in self.windows)),
            "bytes_a_connection": (last.resident_bytes - self.alone.resident_bytes) / self.switch.connections,
            "threads": last.threads,
            "misplaced_share": counters.get("misplaced_requests", 0) / max(counters.get("completed", 0), 1),
        }


@dataclass(frozen=True)
class PoolTrial:
    """What a trial of the live pool opens and sends.

    Attributes:
        served: The pool.
        workload: The load.
        load_cpus: Processors the load is pinned to.
        settle_s: Time between the first request and the window.
        window_s: Length of the window.
        load_settings: How the load is put on.
    """

    served: Served
    workload: Workload
    load_cpus: tuple[int, ...]
    settle_s: float
    window_s: float
    load_settings: LoadSettings | None = None

    def run(self) -> Measures:
        """Measures one window.

        Raises:
            ServerError: The server could not be opened.
            LoadError: The load could not be put on.
        """
        with self._begun() as running:
            running.run(self.window_s)
            return running.measures()

    @contextmanager
    def opened(self) -> Iterator[RunningTrial]:
        """Opens it for slices: the load has begun, and stands still.

        Raises:
            ServerError: The server could not be opened.
            LoadError: The load could not be put on.
        """
        with self._begun() as running:
            running.switch.stop()
            try:
                yield running
            finally:
                running.switch.release()

    @contextmanager
    def _begun(self) -> Iterator[RunningTrial]:
        with PoolProcess(self.served) as server:
            alone = ProcessUsage.of(server.pid)
            with Load(server.address, self.workload, cpus=self.load_cpus, settings=self.load_settings) as load:
                load.run_for(self.settle_s)
                switch = LoadSwitch(server.pid, load.pids, self.workload.connections, lambda: load.report().completed)
                yield RunningTrial(server, load, switch, alone)


def throughputs(windows: Sequence[Window]) -> Measures:
    """Completions a second and latencies in some windows, of the whole and of each class."""
    seconds = sum(after.time_s - before.time_s for before, after in windows)
    classes = windows[0][1].classes
    measures = {
        "throughput_per_s": sum(after.completed - before.completed for before, after in windows) / seconds,
        **latencies("", windows, classes),
    }
    if len(classes) > 1:
        for name in classes:
            completed = sum(after.classes[name].completed - before.classes[name].completed for before, after in windows)
            measures[f"{name}_throughput_per_s"] = completed / seconds
            measures.update(latencies(f"{name}_", windows, [name]))
    return measures


def latencies(prefix: str, windows: Sequence[Window], names: Iterable[str]) -> Measures:
    """Median and 99th percentile of some classes together, in milliseconds; NaN where nothing was completed."""
    counts = sum(
        (
            after.classes[name].latency_counts - before.classes[name].latency_counts
            for name in names
            for before, after in windows
        ),
        start=np.zeros(1, dtype=np.int64),
    )
    histogram = Histogram(counts)
    return {f"{prefix}p{round(100 * share)}_ms": histogram.quantile(share) / 1e3 for share in (0.5, 0.99)}


def costs(usages: Sequence[tuple[ProcessUsage, ProcessUsage]], requests: int, seconds: float) -> Measures:
    """What a request cost the server; NaN where none was completed.

    Args:
        usages: What the server had used at the beginning and at the end of each window.
        requests: Requests completed in them.
        seconds: How long they were together.
    """
    cpu_s = sum(last.cpu_s - first.cpu_s for first, last in usages)
    switches = sum(last.switches - first.switches for first, last in usages)
    return {
        "busy_cpus": cpu_s / seconds,
        "requests_per_cpu_s": requests / cpu_s if cpu_s > 0.0 else float("nan"),
        "switches_a_request": switches / requests if requests else float("nan"),
    }
