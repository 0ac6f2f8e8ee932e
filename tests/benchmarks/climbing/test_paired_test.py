"""Verdicts are Student's paired test, and what is negligible is a tie."""

import numpy as np
import pytest
from scipy import stats

from climbing.paired_test import NEGLIGIBLE, Verdict, compare, tally


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("pairs", [2, 3, 10, 50])
def test_interval_is_that_of_the_paired_t_test(pairs: int, confidence: float) -> None:
    random = np.random.default_rng(pairs)
    ours, baseline = random.normal(0.10, 0.02, pairs), random.normal(0.12, 0.03, pairs)
    found = compare(ours.tolist(), baseline.tolist(), confidence)
    expected = stats.ttest_rel(ours, baseline).confidence_interval(confidence)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.difference == pytest.approx(float(np.mean(ours - baseline)))


def test_single_pair_has_its_difference_and_no_interval() -> None:
    found = compare([0.1], [0.3])
    assert found.difference == found.least == found.most == pytest.approx(-0.2)
    assert (found.low, found.high, found.outcome) == (None, None, "won")
    assert compare([0.3], [0.1]).outcome == "lost"
    assert compare([0.11], [0.1]).non_inferior(0.02)
    assert not compare([0.13], [0.1]).non_inferior(0.02)


def test_equal_runs_are_a_tie() -> None:
    assert compare([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]).outcome == "tied"
    assert compare([0.0], [0.0]).outcome == "tied"


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [
        (Verdict(-0.02, -0.03, -0.01), "won"),
        (Verdict(0.02, 0.01, 0.03), "lost"),
        (Verdict(-0.02, -0.05, 0.01), "tied"),
        (Verdict(0.02, -0.01, 0.05), "tied"),
        (Verdict(-NEGLIGIBLE, -NEGLIGIBLE, -NEGLIGIBLE), "tied"),
        (Verdict(NEGLIGIBLE, 0.9 * NEGLIGIBLE, 1.1 * NEGLIGIBLE), "tied"),
        (Verdict(1.1 * NEGLIGIBLE, 1.0 * NEGLIGIBLE, 1.2 * NEGLIGIBLE), "lost"),
    ],
)
def test_outcome_needs_an_interval_without_nothing_and_a_difference_that_counts(verdict: Verdict, outcome: str) -> None:
    assert verdict.outcome == outcome


def test_not_inferior_is_worse_by_less_than_the_margin_beyond_doubt() -> None:
    assert Verdict(0.01, 0.0, 0.019).non_inferior(0.02)
    assert not Verdict(0.01, -0.01, 0.03).non_inferior(0.02)
    assert Verdict(-0.3, -0.4, -0.2).non_inferior(0.0)


def test_tally_counts_each_outcome() -> None:
    found = [compare([0.1], [0.3]), compare([0.1], [0.3]), compare([0.1], [0.1])]
    assert tally(found) == {"won": 2, "tied": 1, "lost": 0}
