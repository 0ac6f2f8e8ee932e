"""A server that replays the windows of a stored sweep, resampling the repeats of each tuple."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.servers.replay_server import ReplayServer
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import ClassWindow, Window


class RecordedServer(ReplayServer):
    """Gives whole windows, no snapshots: records hold no more.

    Between measured sizes the classes' throughputs and latencies are interpolated in the logarithm of the size, and
    the features are those of the nearer neighbour.

    Args:
        sweep: The stored sweep.
        seed: Seed of the resampling.
        initial: Tuple in force at first; the default one if None.

    Examples:
        >>> from poolpilot.env import sample_sweeps
        >>> server = RecordedServer(sample_sweeps("page_faults")[0])
        >>> window = server.observe(1.0)
        >>> print(window.pool_tuple, round(window.throughput_per_s))
        (2, 3, 500) 330
    """

    def __init__(self, sweep: WorkloadSweep, *, seed: int = 0, initial: PoolTuple | None = None) -> None:
        self._sweep = sweep
        self._rng = np.random.default_rng(seed)
        super().__init__(sweep.limits, initial)

    def observe(self, seconds: float) -> Window:
        """A recorded window of the tuple in force, its length replaced by `seconds` and its rates kept."""
        around = self._sweep.neighbours(self._tuple)
        weights = ((around.low, 1.0 - around.weight), (around.high, around.weight))
        parts = [(self._draw(core), weight) for core, weight in weights if weight > 0.0]
        nearer = max(parts, key=lambda part: part[1])[0]
        return replace(
            nearer,
            pool_tuple=self._tuple,
            profile=replace(nearer.profile, pool_tuple=self._tuple),
            duration_s=seconds,
            classes=self._mixed(parts, seconds),
        )

    def _draw(self, core: tuple[int, int, int]) -> Window:
        windows = self._sweep.entries[core].windows
        return windows[int(self._rng.integers(len(windows)))]

    def _mixed(self, parts: list[tuple[Window, float]], seconds: float) -> Mapping[str, ClassWindow]:
        names = sorted({name for window, _ in parts for name in window.classes})
        mixed = {}
        for name in names:
            scaled = [
                (window.classes[name].latency, weight * seconds / window.duration_s)
                for window, weight in parts
                if name in window.classes
            ]
            counts = sum((latency.counts * scale for latency, scale in scaled), np.zeros(1))
            # Rounding at random keeps the expected goodput; rounding to nearest would cut the tail of single counts.
            whole = np.floor(counts + self._rng.random(counts.shape)).astype(np.int64)
            latency = Histogram.from_sparse([(int(index), int(whole[index])) for index in np.flatnonzero(whole)])
            mixed[name] = ClassWindow(latency.count / seconds, latency)
        return mixed
