"""Interpolation of a table of points, linear or by a spline that does not overshoot."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from poolpilot.errors import SettingError


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
