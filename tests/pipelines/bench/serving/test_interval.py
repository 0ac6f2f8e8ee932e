"""Intervals of repeats: Student's t, of a mean and of paired ratios."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from poolpilot.pipelines.bench.serving.interval import Interval


def test_mean_has_the_interval_of_students_t() -> None:
    values = [3.0, 5.0, 4.0, 8.0]
    expected = ttest_1samp(values, 0.0).confidence_interval(0.95)
    interval = Interval.of(values)
    assert interval.mean == pytest.approx(5.0)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_ratio_is_exact_where_every_pair_has_the_same() -> None:
    interval = Interval.of_ratio([2.0, 20.0, 200.0], [1.0, 10.0, 100.0])
    assert (interval.mean, interval.low, interval.high) == pytest.approx((2.0, 2.0, 2.0))


def test_ratio_covers_the_truth_as_often_as_it_should() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(1000):
        machine = rng.lognormal(0.0, 0.5, 5)  # what strikes both of a pair alike
        ours, theirs = (machine * rng.lognormal(0.0, 0.1, 5) for _ in range(2))
        interval = Interval.of_ratio(list(1.2 * ours), list(theirs))
        covered += interval.low <= 1.2 <= interval.high
    assert 930 <= covered <= 970


def test_a_single_repeat_has_no_bounds() -> None:
    interval = Interval.of([7.0])
    assert interval.mean == 7.0
    assert math.isnan(interval.low)
    assert math.isnan(interval.high)


def test_ratio_needs_as_many_of_both() -> None:
    with pytest.raises(ValueError, match="zip"):
        Interval.of_ratio([1.0, 2.0], [1.0])
