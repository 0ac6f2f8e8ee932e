"""Curves pass through their points and do not overshoot."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolpilot.env.servers.interpolation import Curve
from poolpilot.errors import SettingError

TABLE = ((4, 40.0), (1, 10.0), (2, 30.0), (8, 5.0))


@pytest.mark.parametrize("interpolation", ["linear", "spline"])
def test_curve_passes_through_its_points_and_is_constant_beyond(interpolation: str) -> None:
    curve = Curve(TABLE, "linear" if interpolation == "linear" else "spline")
    assert [curve.at(x) for x, _ in TABLE] == pytest.approx([y for _, y in TABLE])
    assert (curve.at(0.5), curve.at(100.0)) == pytest.approx((10.0, 5.0))


def test_linear_is_straight_between_points_and_spline_is_not() -> None:
    assert Curve(TABLE, "linear").at(1.5) == pytest.approx(20.0)
    assert Curve(TABLE, "spline").at(1.5) == pytest.approx(20.0 + (20.0 - 60.0 / 7.0) / 8.0)


@settings(deadline=None)
@given(st.lists(st.floats(1.0, 1e4), min_size=2, max_size=8))
def test_spline_keeps_between_neighbouring_points(heights: list[float]) -> None:
    curve = Curve([(float(x), y) for x, y in enumerate(heights)], "spline")
    for x, (left, right) in enumerate(pairwise(heights)):
        values = [curve.at(x + step) for step in np.linspace(0.0, 1.0, 9)]
        slack = 1e-9 * max(left, right)
        assert min(left, right) - slack <= min(values)
        assert max(values) <= max(left, right) + slack


def test_spline_of_a_single_point_is_constant() -> None:
    assert Curve([(4, 40.0)], "spline").at(7.0) == 40.0


@pytest.mark.parametrize("table", [[], [(1, 2.0), (1, 3.0)], [(1, 0.0)], [(1, float("nan"))]])
def test_table_that_is_no_curve_is_refused(table: list[tuple[float, float]]) -> None:
    with pytest.raises(SettingError, match="a curve needs"):
        Curve(table, "linear")
