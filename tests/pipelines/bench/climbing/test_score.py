"""Scores of runs made by hand."""

import numpy as np
import pytest

from poolpilot.pipelines.bench.climbing.score import samples_to_stay, score
from poolpilot.pipelines.bench.climbing.shapes import Landscape

HAND = Landscape(np.array([50.0, 90.0, 100.0, 100.0, 80.0]), 0.0)
"""Loses 50, 10, 0, 0 and 20 % at sizes 1..5."""

RUN = np.array([1, 1, 2, 1, 2, 3, 4, 5, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4])


def test_every_figure_of_a_run() -> None:
    found = score(RUN, HAND)
    lost = (3 * 0.5 + 2 * 0.1 + 0.2) / 20
    assert found.objective_lost == pytest.approx(lost)
    assert found.throughput_lost == pytest.approx(lost)
    assert found.samples_to_stay == 8
    assert found.end_lost == 0.0
    assert found.size_over_smallest == pytest.approx(4 / 3)
    assert found.changes == 8
    assert found.wrong_moves == 2


def test_price_counts_in_the_objective_and_not_in_the_throughput() -> None:
    flat = Landscape(np.full(4, 100.0), 0.5)
    found = score(np.array([4] * 10), flat)
    assert found.objective_lost == pytest.approx(0.5)
    assert found.end_lost == pytest.approx(0.5)
    assert found.throughput_lost == 0.0
    assert found.size_over_smallest == 4.0


def test_move_is_wrong_where_it_makes_the_objective_worse() -> None:
    assert score(np.array([3, 4, 3, 4]), HAND).wrong_moves == 0
    assert score(np.array([3, 2, 1, 2, 3]), HAND).wrong_moves == 2
    assert score(np.array([3, 3, 3]), HAND).changes == 0


def test_rest_is_the_last_tenth_and_one_sample_at_least() -> None:
    assert score(np.array([3] * 18 + [1, 5]), HAND).end_lost == pytest.approx((0.5 + 0.2) / 2)
    assert score(np.array([1, 3]), HAND).end_lost == 0.0


def test_run_that_leaves_at_the_end_never_stays() -> None:
    assert score(np.array([3] * 9 + [1]), HAND).samples_to_stay is None


def test_run_that_starts_there_stays_at_once() -> None:
    assert score(np.array([3, 4, 3]), HAND).samples_to_stay == 0


def test_tolerance_decides_what_is_there() -> None:
    sizes = np.array([1, 2, 2, 2])
    assert score(sizes, HAND).samples_to_stay is None
    assert score(sizes, HAND, tolerance=0.11).samples_to_stay == 1
    assert samples_to_stay(np.array([0.3, 0.05, 0.05]), 0.05) == 1
