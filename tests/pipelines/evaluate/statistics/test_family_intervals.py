"""An interval holds the mean as often as it says, with four families too."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from poolpilot.pipelines.evaluate.statistics.family_intervals import MANY_FAMILIES, bootstrap_interval, t_interval
from poolpilot.pipelines.evaluate.statistics.regret_statistics import clustered_interval

Interval = Callable[[NDArray[np.float64], NDArray[np.int64]], tuple[float, float]]

EQUAL, UNEQUAL = (20, 20, 20, 20), (12, 18, 22, 28)


def bootstrapped(sums: NDArray[np.float64], counts: NDArray[np.int64]) -> tuple[float, float]:
    """What was published for four families before."""
    return bootstrap_interval(sums, counts, 300, 0)


def coverage(interval: Interval, sizes: tuple[int, ...], draws: int) -> float:
    """How often the interval of so many families holds the mean of 0; families differ as much as their cases do."""
    rng, counts, held = np.random.default_rng(7), np.array(sizes), 0
    for _ in range(draws):
        sums = counts * rng.normal(size=len(sizes)) + np.sqrt(counts) * rng.normal(size=len(sizes))
        low, high = interval(sums, counts)
        held += low <= 0.0 <= high
    return held / draws


@pytest.mark.parametrize("sizes", [EQUAL, UNEQUAL])
def test_interval_of_four_families_covers_what_it_says(sizes: tuple[int, ...]) -> None:
    assert coverage(t_interval, sizes, 3000) > 0.92
    assert coverage(bootstrapped, sizes, 300) < 0.9


def test_families_of_one_size_give_the_t_interval_of_their_means() -> None:
    means = np.array([-0.6, -0.3, -0.2, 0.02])
    wanted = ttest_1samp(means, 0.0).confidence_interval(0.95)
    assert t_interval(20 * means, np.full(4, 20)) == pytest.approx((wanted.low, wanted.high))


def test_centre_is_the_mean_over_all_cases() -> None:
    low, high = t_interval(np.array([1.0, 9.0, 2.0]), np.array([1, 3, 4]))
    assert (low + high) / 2 == pytest.approx(12.0 / 8.0)


def test_families_that_agree_give_an_interval_of_no_width() -> None:
    assert t_interval(np.array([2.0, 4.0, 6.0]), np.array([1, 2, 3])) == pytest.approx((2.0, 2.0))


def test_bootstrap_is_for_many_families_and_nothing_for_two() -> None:
    rng = np.random.default_rng(0)
    by_family = {str(number): [float(one) for one in rng.normal(size=3)] for number in range(MANY_FAMILIES)}
    sums, counts = np.array([sum(values) for values in by_family.values()]), np.full(MANY_FAMILIES, 3)
    assert clustered_interval(by_family, 500, 1) == bootstrap_interval(sums, counts, 500, 1)
    by_family.pop("0")
    assert clustered_interval(by_family, 500, 1) == t_interval(sums[1:], counts[1:])
    assert clustered_interval({"a": [0.1], "b": [0.3]}, 500, 1) == (None, None)
