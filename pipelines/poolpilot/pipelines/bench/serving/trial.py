"""One trial: a fresh server, a load on it, one window in which both are read."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from poolpilot.featurizer.histogram import Histogram
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.load_report import LoadReport
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.bench.serving.served import Served, ServerProcess
from poolpilot.pipelines.bench.serving.usage import ProcessUsage

Measures = dict[str, float]
"""What one trial measured, by name."""


@dataclass(frozen=True)
class Trial:
    """What a trial opens and sends.

    Attributes:
        served: The server.
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
        """Measures once.

        Raises:
            ServerError: The server could not be opened.
            LoadError: The load could not be put on.
        """
        with ServerProcess(self.served) as server:
            alone = ProcessUsage.of(server.pid)
            with Load(server.address, self.workload, cpus=self.load_cpus, settings=self.load_settings) as load:
                load.run_for(self.settle_s)
                before, first = load.report(), ProcessUsage.of(server.pid)
                load.run_for(self.window_s)
                after, last = load.report(), ProcessUsage.of(server.pid)
                counters = server.call("snapshot").get("counters", {}) if self.served.kind == "pool" else {}
            return {
                **throughputs(before, after),
                **costs(first, last, after.completed - before.completed, after.time_s - before.time_s),
                "bytes_a_connection": (last.resident_bytes - alone.resident_bytes) / self.workload.connections,
                "threads": last.threads,
                "misplaced_share": counters.get("misplaced_requests", 0) / max(counters.get("completed", 0), 1),
            }


def throughputs(before: LoadReport, after: LoadReport) -> Measures:
    """Completions a second and latencies between two reports, of the whole and of each class."""
    seconds = after.time_s - before.time_s
    measures = {
        "throughput_per_s": (after.completed - before.completed) / seconds,
        **latencies("", after, before, after.classes),
    }
    if len(after.classes) > 1:
        for name, one in after.classes.items():
            completed = one.completed - before.classes[name].completed
            measures[f"{name}_throughput_per_s"] = completed / seconds
            measures.update(latencies(f"{name}_", after, before, [name]))
    return measures


def latencies(prefix: str, after: LoadReport, before: LoadReport, names: Iterable[str]) -> Measures:
    """Median and 99th percentile of some classes together, in milliseconds; NaN where nothing was completed."""
    counts = sum(
        (after.classes[name].latency_counts - before.classes[name].latency_counts for name in names),
        start=np.zeros(1, dtype=np.int64),
    )
    histogram = Histogram(counts)
    return {f"{prefix}p{round(100 * share)}_ms": histogram.quantile(share) / 1e3 for share in (0.5, 0.99)}


def costs(first: ProcessUsage, last: ProcessUsage, requests: int, seconds: float) -> Measures:
    """What a request cost the server; NaN where none was completed."""
    cpu_s = last.cpu_s - first.cpu_s
    return {
        "busy_cpus": cpu_s / seconds,
        "requests_per_cpu_s": requests / cpu_s if cpu_s > 0.0 else float("nan"),
        "switches_a_request": (last.switches - first.switches) / requests if requests else float("nan"),
    }
