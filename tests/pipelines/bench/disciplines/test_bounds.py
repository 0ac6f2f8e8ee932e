"""No patient request stays longer than its discipline says, and the bounds are such as could be overstepped."""

import math

import numpy as np
import pytest

from poolpilot.featurizer.histogram import BUCKETS, Histogram, bucket_of
from poolpilot.pipelines.bench.disciplines.bounds import BOUND_PLANS, OCCUPIED_MS, BoundPlan, bound_row, longest_ms

BOUNDED = [plan for plan in BOUND_PLANS if not math.isinf(plan.bound_ms(1))]
UNBOUNDED = [plan for plan in BOUND_PLANS if math.isinf(plan.bound_ms(1))]
LEAST_OF_BOUND = 0.4
"""A bound more than twice as long as anything that is seen would say little."""


def name_of(plan: BoundPlan) -> str:
    return f"{plan.discipline} of {len(plan.queues)}"


@pytest.mark.parametrize("plan", BOUNDED, ids=name_of)
def test_nobody_stays_longer_than_the_bound(plan: BoundPlan) -> None:
    row = bound_row(plan, 2, 5.0)
    assert row["requests"] > 100
    assert LEAST_OF_BOUND * row["bound_ms"] < row["longest_ms"] <= row["bound_ms"]


@pytest.mark.parametrize("plan", UNBOUNDED, ids=name_of)
def test_who_has_no_bound_is_not_served_beside_a_class_that_never_rests(plan: BoundPlan) -> None:
    row = bound_row(plan, 1, 5.0)
    assert row["bound_ms"] is None
    assert row["requests"] == 0


def test_the_longest_is_told_by_the_lower_edge_of_its_bucket() -> None:
    counts = np.zeros(BUCKETS, dtype=np.int64)
    counts[[bucket_of(900), bucket_of(70_000)]] = 1
    assert 70.0 / 1.0625 <= longest_ms(Histogram(counts)) <= 70.0
    assert longest_ms(Histogram()) == 0.0


def test_bounds_of_plain_queues_are_those_of_everybody_once() -> None:
    fifo = next(plan for plan in BOUND_PLANS if plan.discipline == "fifo")
    assert fifo.bound_ms(1) == pytest.approx(38 * OCCUPIED_MS)
