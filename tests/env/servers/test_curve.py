"""The curve serves in virtual time, its windows agree with it, and it passes through its points without overshoot."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolpilot.env.climbing.climb import mean_latency_s
from poolpilot.env.environments.curve_pool import CurvePoolEnv
from poolpilot.env.measurement.protocol import observe
from poolpilot.env.servers.curve import Curve, CurveServer
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window

HUMP = ((1, 100.0), (16, 900.0), (64, 300.0))


def test_window_shows_the_throughput_and_the_latency_of_a_closed_loop() -> None:
    server = CurveServer(HUMP, connections=45, initial=PoolTuple(16, 3, 500))
    window = observe(server, 2.0).window
    assert window.throughput_per_s == pytest.approx(900.0)
    assert mean_latency_s(window) == pytest.approx(0.05, rel=0.04)
    assert window.profile.features["connections"] == 45.0


def test_no_completion_is_lost_to_rounding() -> None:
    server = CurveServer([(1, 3.0)])
    for _ in range(100):
        server.run_for(0.1)
    assert server.snapshot().counters["completed"] in (29.0, 30.0)


def test_change_of_the_tuple_raises_the_epoch_and_spoils_a_window() -> None:
    server = CurveServer(HUMP)
    before = server.snapshot()
    assert server.apply(PoolTuple(16, 3, 500)) == server.tuple_in_force() == PoolTuple(16, 3, 500)
    server.run_for(1.0)
    with pytest.raises(ServerError):
        Window.between(before, server.snapshot())


def test_tables_are_chosen_by_the_nearest_other_knobs() -> None:
    server = CurveServer({(1, 10): [(1, 10.0)], (10, 500): [(1, 500.0)]})
    assert server.throughput_per_s(PoolTuple(1, 1, 20)) == 10.0
    assert server.throughput_per_s(PoolTuple(1, 9, 400)) == 500.0


def test_noise_has_the_asked_size_and_follows_its_seed() -> None:
    def logs(seed: int) -> list[float]:
        server = CurveServer([(1, 1e6)], noise=0.1, seed=seed)
        return [float(np.log(observe(server, 1.0).window.throughput_per_s)) for _ in range(400)]

    assert np.std(logs(0)) == pytest.approx(0.1, rel=0.15)
    assert logs(1) == logs(1)
    assert logs(1) != logs(2)


def test_tuple_out_of_range_and_negative_time_are_refused() -> None:
    server = CurveServer(HUMP)
    with pytest.raises(SettingError, match=r"1\.\.128"):
        server.apply(PoolTuple(200, 3, 500))
    with pytest.raises(SettingError, match="at least 0"):
        server.run_for(-1.0)


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


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("connections", 0, "connections is 0, but must be at least 1"),
        ("connections", -5, "connections is -5, but must be at least 1"),
        ("interpolation", "cubic", "interpolation 'cubic' is unknown; choose 'linear' or 'spline'"),
        ("noise", -1.0, r"noise is -1\.0, but must be in 0\.\.10"),
        ("noise", math.nan, r"noise is nan, but must be in 0\.\.10"),
        ("noise", 1000.0, r"noise is 1000\.0, but must be in 0\.\.10"),
    ],
)
def test_options_out_of_range_are_refused(name: str, value: Any, text: str) -> None:
    with pytest.raises(SettingError, match=text):
        CurveServer([(1, 100)], **{name: value})
    with pytest.raises(SettingError, match=text):
        CurvePoolEnv(**{name: value})


def test_environment_without_a_curve_is_refused() -> None:
    with pytest.raises(SettingError, match="at least one curve"):
        CurvePoolEnv(curves=[])
