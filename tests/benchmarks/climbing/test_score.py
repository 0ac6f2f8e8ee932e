"""Scores of runs made by hand."""

import numpy as np
import pytest

from climbing.score import samples_to_stay, score
from climbing.shapes import Landscape

HAND = Landscape(np.array([50.0, 90.0, 100.0, 100.0, 80.0]), 0.0)
"""Loses 50, 10, 0, 0 and 20 % at sizes 1..5."""

RUN = np.array([1, 1, 2, 1, 2, 3, 4, 5, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4, 4])


def test_every_figure_of_a_run() -> None:
    found = score(RUN, HAND)
    lost = (3 * 0.5 + 2 * 0.1 + 0.2) / 20
    assert found.objective_lost == pytest.approx(lost)
    assert found.samples_to_stay == 8
    assert found.end_lost == 0.0


def test_price_counts_in_the_objective() -> None:
    flat = Landscape(np.full(4, 100.0), 0.5)
    found = score(np.array([4] * 10), flat)
    assert found.objective_lost == pytest.approx(0.5)
    assert found.end_lost == pytest.approx(0.5)


def test_rest_is_the_last_tenth_and_one_sample_at_least() -> None:
    assert score(np.array([3] * 18 + [1, 5]), HAND).end_lost == pytest.approx((0.5 + 0.2) / 2)
    assert score(np.array([1, 3]), HAND).end_lost == 0.0


def test_run_that_leaves_at_the_end_never_stays() -> None:
    assert score(np.array([3] * 9 + [1]), HAND).samples_to_stay is None


def test_run_that_starts_there_stays_at_once() -> None:
    assert score(np.array([3, 4, 3]), HAND).samples_to_stay == 0


def test_tolerance_decides_what_is_there() -> None:
    assert score(np.array([1, 2, 2, 2]), HAND).samples_to_stay is None
    assert samples_to_stay(np.array([0.3, 0.05, 0.05])) == 1
