"""What is said of a day: its completed requests beside the default's, and what was unsafe or slow."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from poolpilot.featurizer.window import Window
from tuner_days.day_report import row_of, steady_bins, summary
from tuner_days.day_server import BIN_S, Day, DayServer
from tuner_days.lives import DayResult

DAY = Day.draw(20, 0.25)
BINS = int(DAY.length_s // BIN_S)
BEST = [10.0, 10.0, 10.0]


def lived(*per_bin: float, latency_ms: Sequence[float] = (10.0,)) -> DayResult:
    """A day of so many requests and such a latency in each bin, and a last bin that a method has only run into."""
    return DayResult([*np.resize(per_bin, BINS), 1e6], [*np.resize(latency_ms, BINS), 1e6])


def test_completed_is_the_ratio_of_totals_and_not_the_mean_of_ratios() -> None:
    row = row_of(DAY, BEST, lived(100.0), lived(50.0, 450.0))
    expected = sum(np.resize([50.0, 450.0], BINS)) / (100.0 * BINS)
    assert math.exp(row["completed"]) == pytest.approx(expected)


def test_unsafe_is_below_95_percent_less_three_deviations_of_the_default() -> None:
    even = row_of(DAY, BEST, lived(100.0), lived(94.0))
    assert even["unsafe"] == even["bins"] == steady_bins(DAY, BINS).sum()
    scattered = row_of(DAY, BEST, lived(90.0, 110.0), lived(94.0))
    assert scattered["unsafe"] == 0


def test_slow_is_above_120_percent_and_three_deviations_of_the_default() -> None:
    slower = row_of(DAY, BEST, lived(100.0), lived(100.0, latency_ms=(12.1,)))
    assert slower["slow"] == slower["bins"]
    assert slower["unsafe"] == 0
    assert row_of(DAY, BEST, lived(100.0), lived(100.0, latency_ms=(11.9,)))["slow"] == 0
    scattered = row_of(DAY, BEST, lived(100.0, latency_ms=(9.0, 11.0)), lived(100.0, latency_ms=(12.1,)))
    assert scattered["slow"] == 0


def test_a_day_shows_the_latency_of_each_half_minute() -> None:
    with DayServer(DAY) as server:
        server.run_for(2.5 * BIN_S)
        assert (server.latency_ms[:2] > 0.0).all()
        assert not server.latency_ms[2:].any()
        first = server.latency_ms[0]
    with DayServer(DAY) as server:
        before = server.snapshot()
        server.run_for(BIN_S)
        tails = [each.latency.quantile(0.95) for each in Window.between(before, server.snapshot()).classes.values()]
    assert first == pytest.approx(math.exp(np.mean(np.log([tail for tail in tails if tail > 0.0]))) / 1e3)


def test_days_are_summed_up_by_geometric_means_and_the_worst() -> None:
    days = [row_of(DAY, BEST, lived(100.0), lived(per_bin)) for per_bin in (50.0, 800.0)]
    found = summary(days)
    assert math.exp(found["completed"]) == pytest.approx(2.0)
    assert math.exp(found["worst_completed"]) == pytest.approx(0.5)
    assert found["days"] == 2
