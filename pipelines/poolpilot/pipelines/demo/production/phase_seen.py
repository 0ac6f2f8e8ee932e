"""What the clients of a workload saw while it ran: requests a second window by window, and latencies by class."""

import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from poolpilot.featurizer.histogram import Histogram
from poolpilot.lab.sysbench_load import SqlLoad

TAIL = 0.99

OnWindow = Callable[[float], None]
"""Is told the requests a second of a window."""


@dataclass(frozen=True)
class PhaseSeen:
    """What clients saw.

    Attributes:
        phase: Name of the workload.
        seconds: How long each window has lasted: longer than was asked for where the machine is busy.
        windows: Latencies by class, in microseconds, window by window.
    """

    phase: str
    seconds: tuple[float, ...]
    windows: tuple[Mapping[str, Histogram], ...]

    @property
    def settled(self) -> "PhaseSeen":
        """Its second half."""
        half = len(self.windows) // 2
        return PhaseSeen(self.phase, self.seconds[half:], self.windows[half:])

    @property
    def rates(self) -> tuple[float, ...]:
        """Requests completed a second, of all classes, window by window."""
        return tuple(
            sum(each.count for each in window.values()) / seconds
            for window, seconds in zip(self.windows, self.seconds, strict=True)
        )

    @property
    def throughput_per_s(self) -> float:
        """Requests completed a second."""
        return sum(self.class_per_s(name) for name in self.windows[0])

    @property
    def error_per_s(self) -> float:
        """Standard error of `throughput_per_s` by the spread of the windows; infinite for a single one."""
        count = len(self.windows)
        return statistics.stdev(self.rates) / math.sqrt(count) if count > 1 else math.inf

    def p99_ms(self, name: str) -> float:
        """99th percentile of the latency of a class; 0 where it completed nothing."""
        return self._latency(name).quantile(TAIL) / 1e3

    def class_per_s(self, name: str) -> float:
        """Requests of a class completed a second."""
        return self._latency(name).count / sum(self.seconds)

    def as_dict(self) -> dict[str, Any]:
        """What it comes to, fit for JSON."""
        names = list(self.windows[0])
        return {
            "phase": self.phase,
            "seconds": sum(self.seconds),
            "throughput_per_s": self.throughput_per_s,
            "standard_error_per_s": self.error_per_s,
            "classes": {name: {"per_s": self.class_per_s(name), "p99_ms": self.p99_ms(name)} for name in names},
        }

    def _latency(self, name: str) -> Histogram:
        return sum((window[name] for window in self.windows), start=Histogram())


def watched(load: SqlLoad, seconds: float, window_s: float, on_window: OnWindow = lambda _: None) -> PhaseSeen:
    """Watches the clients of a load.

    Args:
        load: The load.
        seconds: For how long.
        window_s: Seconds of a window.
        on_window: Is told of every window.

    Raises:
        ServerError: A client has ended.
    """
    count = max(round(seconds / window_s), 1)
    lasted_s: list[float] = []
    windows: list[Mapping[str, Histogram]] = []
    before, at_s = load.histograms(), time.monotonic()
    for _ in range(count):
        time.sleep(max(at_s + window_s - time.monotonic(), 0.0))
        now, now_s = load.histograms(), time.monotonic()
        windows.append({name: now[name] - before[name] for name in now})
        lasted_s.append(now_s - at_s)
        on_window(sum(each.count for each in windows[-1].values()) / lasted_s[-1])
        before, at_s = now, now_s
    return PhaseSeen(load.workload.name, tuple(lasted_s), tuple(windows))
