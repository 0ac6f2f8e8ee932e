"""A server whose throughput is a curve over the pool size: instant, in virtual time, with noise if wanted."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.env.action_grid import nearest_core
from poolpilot.env.knobs import KnobSpace
from poolpilot.errors import SettingError
from poolpilot.featurizer.histogram import Histogram, bucket_of
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, Snapshot


class Curve:
    """A positive function through the points of a table, constant beyond its ends.

    Args:
        table: (x, y) points in any order.
        interpolation: "linear", or "spline": the monotone cubic of Fritsch and Butland (1984).

    Raises:
        SettingError: There are no points, an x comes twice, or a y is not positive.
    """

    def __init__(self, table: Sequence[tuple[float, float]], interpolation: Literal["linear", "spline"]) -> None:
        points = np.array(sorted(table), dtype=np.float64)
        if not len(points) or (np.diff(points[:, 0]) <= 0.0).any() or not (points[:, 1] > 0.0).all():
            raise SettingError("a curve needs at least one (size, throughput) point, sizes once, throughputs above 0")
        self._x, self._y = points.T
        smooth = interpolation == "spline" and len(points) > 1
        self._slopes = _monotone_slopes(self._x, self._y) if smooth else None

    def at(self, x: float) -> float:
        """The value at `x`."""
        if self._slopes is None or not self._x[0] < x < self._x[-1]:
            return float(np.interp(x, self._x, self._y))
        left = int(np.searchsorted(self._x, x, side="right")) - 1
        width = self._x[left + 1] - self._x[left]
        t = (x - self._x[left]) / width
        return float(
            (1 + 2 * t) * (1 - t) ** 2 * self._y[left]
            + t * (1 - t) ** 2 * width * self._slopes[left]
            + t**2 * (3 - 2 * t) * self._y[left + 1]
            + t**2 * (t - 1) * width * self._slopes[left + 1]
        )


def _monotone_slopes(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Slopes at the points: weighted harmonic means of the neighbouring secants, 0 at every turn of the table."""
    widths = np.diff(x)
    secants = np.diff(y) / widths
    slopes = np.zeros(len(x))
    slopes[0], slopes[-1] = secants[0], secants[-1]
    before, after = secants[:-1], secants[1:]
    weight_before, weight_after = widths[:-1] + 2 * widths[1:], 2 * widths[:-1] + widths[1:]
    same_way = before * after > 0.0
    safe_before, safe_after = np.where(same_way, before, 1.0), np.where(same_way, after, 1.0)
    mean = (weight_before + weight_after) / (weight_before / safe_before + weight_after / safe_after)
    slopes[1:-1] = np.where(same_way, mean, 0.0)
    return slopes


Table = Sequence[tuple[float, float]]
"""(pool size, completions a second) points."""

MOST_NOISE = 10.0
"""Largest noise of a curve: beyond it a throughput may no longer be finite."""

CLASS_NAME = "all"
"""The one request class of a curve."""


class CurveServer:
    """Completes requests at a rate that the pool size decides; a closed loop gives their latency by Little's law.

    Args:
        tables: One table, or one for each (oversubscribe, timer_interval_ms); other pairs use the nearest of these.
        interpolation: "linear", or "spline", which is smooth and keeps every rise and fall of the table.
        noise: Standard deviation of the logarithm of the throughput of one `run_for`.
        seed: Seed of the noise.
        cpus: Processors the server pretends to have.
        connections: Connections of the closed loop.
        initial: Tuple in force at first; the default one if None.

    Raises:
        SettingError: A table has no points, a size twice, or a throughput that is not positive; or an option is outside
            its range.

    Examples:
        >>> server = CurveServer([(1, 100), (16, 1200), (64, 600)], cpus=4)
        >>> server.run_for(10.0)
        >>> server.snapshot().counters["completed"], server.throughput_per_s(PoolTuple(16, 3, 500))
        (3200.0, 1200.0)
    """

    def __init__(
        self,
        tables: Table | Mapping[tuple[int, int], Table],
        *,
        interpolation: Literal["linear", "spline"] = "linear",
        noise: float = 0.0,
        seed: int = 0,
        cpus: int = 4,
        connections: int = 64,
        initial: PoolTuple | None = None,
    ) -> None:
        _check(interpolation, noise, connections)
        self._knobs = KnobSpace.stock(cpus)
        named = tables if isinstance(tables, Mapping) else {self._knobs.default_tuple().core[1:]: tables}
        self._curves = {rest: Curve(table, interpolation) for rest, table in named.items()}
        self._noise = noise
        self._rng = np.random.default_rng(seed)
        self._connections = connections
        self._tuple = self._knobs.default_tuple() if initial is None else initial
        self._knobs.check(self._tuple)
        self._epoch = 0
        self._time_s = 0.0
        self._owed = 0.0
        self._completed = 0
        self._latency = Histogram()

    @property
    def knobs(self) -> KnobSpace:
        """The knobs of a stock server."""
        return self._knobs

    def tuple_in_force(self) -> PoolTuple:
        """The tuple in force."""
        return self._tuple

    def apply(self, pool_tuple: PoolTuple) -> PoolTuple:
        """Sets a tuple.

        Raises:
            SettingError: The tuple is outside the ranges.
        """
        self._knobs.check(pool_tuple)
        if pool_tuple != self._tuple:
            self._tuple = pool_tuple
            self._epoch += 1
        return self._tuple

    def throughput_per_s(self, pool_tuple: PoolTuple) -> float:
        """Completions a second under a tuple, without noise."""
        nearest = nearest_core([(1, *rest) for rest in self._curves], (1, *pool_tuple.core[1:]))
        return list(self._curves.values())[nearest].at(pool_tuple.pool_size)

    def run_for(self, seconds: float) -> None:
        """Completes what is due in `seconds` of virtual time.

        Raises:
            SettingError: The time is negative.
        """
        if seconds < 0.0:
            raise SettingError(f"a server cannot run for {seconds} s; the time must be at least 0")
        rate_per_s = self.throughput_per_s(self._tuple) * float(np.exp(self._noise * self._rng.standard_normal()))
        due = self._owed + rate_per_s * seconds
        completed = int(due)
        self._owed = due - completed
        self._completed += completed
        self._time_s += seconds
        self._latency += _repeated(self._connections / rate_per_s * 1e6, completed)

    def snapshot(self) -> Snapshot:
        """What has been completed since the start."""
        return Snapshot(
            self._time_s,
            self._epoch,
            self._tuple,
            {"completed": float(self._completed)},
            {"connections": float(self._connections), "cpus": float(self._knobs.cpus)},
            {LATENCY_PREFIX + CLASS_NAME: self._latency},
            "curve",
        )

    def close(self) -> None:
        """Does nothing: a curve holds neither threads nor sockets."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _repeated(value: float, times: int) -> Histogram:
    return Histogram.from_sparse([(bucket_of(value), times)], value * times, value * value * times)


def _check(interpolation: str, noise: float, connections: int) -> None:
    if interpolation not in ("linear", "spline"):
        raise SettingError(f"interpolation {interpolation!r} is unknown; choose 'linear' or 'spline'")
    if not 0.0 <= noise <= MOST_NOISE:
        raise SettingError(f"noise is {noise}, but must be in 0..{MOST_NOISE:g}")
    if not connections >= 1:
        raise SettingError(f"connections is {connections}, but must be at least 1")
