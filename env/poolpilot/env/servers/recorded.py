"""A server that replays the windows of a stored sweep, resampling the repeats of each tuple."""

from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Self

import numpy as np

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import ClassWindow, Window


class RecordedServer:
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
        self._tuple = self.knobs.default_tuple() if initial is None else initial
        self.knobs.check(self._tuple)

    @property
    def knobs(self) -> KnobSpace:
        """The knobs of the server that was recorded."""
        return self._sweep.limits

    def tuple_in_force(self) -> PoolTuple:
        """The tuple in force."""
        return self._tuple

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        """Sets a tuple.

        Raises:
            SettingError: The tuple is outside the ranges.
        """
        self.knobs.check(pool_tuple)
        self._tuple = pool_tuple
        return self._tuple

    def run_for(self, seconds: float) -> None:
        """Does nothing: a replay has no state that could settle."""

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

    def close(self) -> None:
        """Does nothing: a replay holds neither threads nor sockets."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
