"""What a tuner was worth on MariaDB: by rounds, and over families."""

import math
from typing import Any

import numpy as np
import pytest

from experiments.tuner_pays import WORKLOADS, gain, means_of
from suite.suite_cells import SUITE


def row(family: str, over_default: float) -> dict[str, Any]:
    over = {"tuned_over_default": (over_default, 0.01), "tuned_over_constant": (over_default / 2, 0.02)}
    return {"family": family, **over}


def test_workloads_are_families_of_the_suite() -> None:
    assert set(WORKLOADS) <= SUITE.keys()


def test_a_gain_is_the_mean_over_rounds_with_their_error() -> None:
    default, constant, tuned = (np.log(rates) for rates in ((100.0, 200.0), (100.0, 100.0), (200.0, 400.0)))
    assert gain(tuned, default) == pytest.approx((math.log(2.0), 0.0))
    mean, error = gain(tuned, constant)
    assert mean == pytest.approx(1.5 * math.log(2.0))
    assert error == pytest.approx(0.5 * math.log(2.0))


def test_a_mean_has_an_interval_from_three_families_on() -> None:
    two = means_of([row("hot", 0.1), row("slow", 0.3)])["tuned_over_default"]
    assert two["mean"] == pytest.approx(0.2)
    assert two["interval"] is None
    low, high = means_of([row("hot", 0.1), row("slow", 0.3), row("flat", 0.2)])["tuned_over_default"]["interval"]
    assert low < 0.2 < high
