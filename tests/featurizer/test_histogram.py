"""The histogram: merging, quantiles, bucket bounds."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolpilot.errors import SettingError
from poolpilot.featurizer.histogram import BUCKETS, LOWER_BOUNDS, Histogram, bucket_lower_bounds, bucket_of

WIDEST = float(LOWER_BOUNDS[-1])
values_us = st.floats(min_value=0.0, max_value=WIDEST * 2.0)
observations = st.lists(st.integers(min_value=0, max_value=2**20).map(float), max_size=40)
shares = st.floats(min_value=0.0, max_value=1.0)


def histogram_of(values: list[float]) -> Histogram:
    """The histogram that a server would keep of these observations."""
    counts = np.zeros(BUCKETS, dtype=np.int64)
    for value in values:
        counts[bucket_of(value)] += 1
    return Histogram(counts, sum(values), sum(value**2 for value in values))


def test_bounds_rise_without_gaps_and_are_at_most_a_sixteenth_wide() -> None:
    bounds = bucket_lower_bounds()
    widths = np.diff(bounds)
    assert len(bounds) == BUCKETS + 1
    assert (widths > 0).all()
    assert (widths[16:] <= bounds[16:-1] / 16).all()
    assert (widths[:16] == 1.0).all()


@given(values_us)
def test_a_value_lies_within_its_bucket(value: float) -> None:
    index = bucket_of(value)
    assert LOWER_BOUNDS[index] <= value
    assert value < LOWER_BOUNDS[index + 1] or index == BUCKETS - 1


@pytest.mark.parametrize("index", [0, 1, 15, 16, 17, 31, 32, 100, BUCKETS - 1])
def test_a_lower_bound_belongs_to_its_own_bucket(index: int) -> None:
    assert bucket_of(float(LOWER_BOUNDS[index])) == index


@given(observations, observations)
def test_merging_equals_observing_both(left: list[float], right: list[float]) -> None:
    assert histogram_of(left) + histogram_of(right) == histogram_of(left + right)


@given(observations, observations)
def test_a_difference_undoes_a_merge(left: list[float], right: list[float]) -> None:
    rise = (histogram_of(left) + histogram_of(right)) - histogram_of(left)
    assert np.array_equal(rise.counts, histogram_of(right).counts)
    assert rise.total == sum(right)


@given(observations, st.lists(shares, min_size=2, max_size=6))
def test_quantiles_rise_with_their_share(values: list[float], wanted: list[float]) -> None:
    histogram = histogram_of(values)
    quantiles = [histogram.quantile(share) for share in sorted(wanted)]
    assert all(lower <= upper for lower, upper in pairwise(quantiles))


@given(observations.filter(bool), st.floats(min_value=0.01, max_value=1.0))
def test_a_quantile_lies_in_the_bucket_of_the_exact_one(values: list[float], share: float) -> None:
    exact = float(np.quantile(values, share, method="inverted_cdf"))
    bucket = bucket_of(exact)
    assert LOWER_BOUNDS[bucket] <= histogram_of(values).quantile(share) <= LOWER_BOUNDS[bucket + 1]


@given(observations, values_us)
def test_count_below_is_the_exact_count_but_for_the_limits_own_bucket(values: list[float], limit: float) -> None:
    histogram = histogram_of(values)
    own = sum(bucket_of(value) == bucket_of(limit) for value in values)
    exact_below = sum(bucket_of(value) < bucket_of(limit) for value in values)
    assert exact_below <= histogram.count_below(limit) <= exact_below + own


@given(observations, values_us, values_us)
def test_count_below_rises_with_the_limit(values: list[float], left: float, right: float) -> None:
    histogram = histogram_of(values)
    assert histogram.count_below(min(left, right)) <= histogram.count_below(max(left, right)) + 1e-9


def test_moments_are_exact() -> None:
    histogram = histogram_of([100.0, 300.0])
    assert histogram.mean == 200.0
    assert histogram.coefficient_of_variation == pytest.approx(0.5)


def test_an_empty_histogram_is_all_zero() -> None:
    empty = Histogram()
    assert (empty.count, empty.mean, empty.coefficient_of_variation, empty.quantile(0.5)) == (0, 0.0, 0.0, 0.0)


@given(observations)
def test_the_sparse_form_restores_counts_and_given_moments(values: list[float]) -> None:
    histogram = histogram_of(values)
    assert Histogram.from_sparse(histogram.to_sparse(), histogram.total, histogram.total_squares) == histogram


@given(observations.filter(bool))
def test_moments_not_given_are_those_of_the_buckets_middles(values: list[float]) -> None:
    rebuilt = Histogram.from_sparse(histogram_of(values).to_sparse())
    mean = float(np.mean(values))
    assert abs(rebuilt.mean - mean) <= 0.5 + mean / 32.0 + 1e-9
    assert Histogram.from_sparse(rebuilt.to_sparse()) == rebuilt


def test_a_histogram_differs_from_other_moments_and_other_things() -> None:
    assert histogram_of([1.0]) != Histogram(histogram_of([1.0]).counts, 2.0, 4.0)
    assert histogram_of([1.0]) != "a histogram"


def test_values_are_counted_with_exact_moments() -> None:
    histogram = Histogram.of_values([3.0, 250.0, 1e6])
    assert (histogram.count, histogram.total, histogram.total_squares) == (3, 1000253.0, 9.0 + 62500.0 + 1e12)
    assert histogram.counts[bucket_of(250.0)] == 1


def test_adding_leaves_the_histogram_as_it_was() -> None:
    before = Histogram.of_values([10.0])
    assert before.add(10.0, 20.0) == Histogram.of_values([10.0, 10.0, 20.0])
    assert before.count == 1


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_value_that_no_time_has_is_refused(value: float) -> None:
    with pytest.raises(SettingError, match="finite values of at least 0"):
        Histogram.of_values([value])


def test_binned_is_what_the_sparse_form_tells() -> None:
    exact = Histogram.of_values([100.0, 101.0, 5000.0])
    binned = exact.binned()
    assert binned == Histogram.from_sparse(exact.to_sparse())
    assert binned.total != exact.total
    assert Histogram().binned() == Histogram()
