"""Plans of shares, and what the simulated pool gives: within 2 points of every weight, and not by chance."""

import math

import pytest

from poolpilot.pipelines.bench.disciplines.shares import (
    LIVE_PLANS,
    SIMULATED_PLANS,
    SharePlan,
    farthest,
    share_row,
    simulated_shares,
)
from poolpilot.pipelines.bench.serving.interval import Interval

WITH_WEIGHTS = {"weighted", "cbwfq", "cbwfq_llq", "weighted_round_robin", "deficit_round_robin"}


def test_shares_of_requests_count_answers_and_shares_of_time_their_length() -> None:
    answers = {"first": 80.0, "second": 20.0}
    assert SharePlan("weighted", "requests", (0.5, 0.5)).shares(answers) == {"first": 0.8, "second": 0.2}
    assert SharePlan("cbwfq", "time", (0.5, 0.5)).shares(answers) == {"first": 0.5, "second": 0.5}


def test_a_low_latency_queue_has_no_share() -> None:
    plan = SharePlan("cbwfq_llq", "requests", (0.0, 0.25, 0.75))
    shares = plan.shares({"first": 1e6, "second": 30.0, "third": 70.0})
    assert shares == pytest.approx({"second": 0.3, "third": 0.7})
    assert plan.points_off(shares) == pytest.approx(5.0)
    assert math.isnan(plan.shares({"first": 1.0, "second": 0.0, "third": 0.0})["second"])
    assert [one.think_ms > 0.0 for one in plan.workload().classes] == [True, False, False]


@pytest.mark.parametrize("plans", [SIMULATED_PLANS, LIVE_PLANS])
def test_every_discipline_with_weights_is_tried_with_two_queues_and_with_three(plans: tuple[SharePlan, ...]) -> None:
    assert {plan.discipline for plan in plans} == WITH_WEIGHTS
    for discipline in WITH_WEIGHTS:
        tried = {sum(weight > 0.0 for weight in plan.weights) for plan in plans if plan.discipline == discipline}
        assert tried == ({2} if discipline == "cbwfq_llq" else {2, 3})
    assert len({plan.name for plan in plans}) == len(plans)


@pytest.mark.parametrize("plan", SIMULATED_PLANS, ids=lambda plan: plan.name)
def test_every_class_gets_its_share_to_two_points(plan: SharePlan) -> None:
    assert plan.points_off(simulated_shares(plan, 1, 5.0)) < 2.0


def test_a_discipline_that_shares_requests_does_not_share_time() -> None:
    weights = (0.5, 0.5)
    had = simulated_shares(SharePlan("weighted_round_robin", "requests", weights), 1, 2.0)
    as_time = SharePlan("weighted_round_robin", "time", weights).shares(had)
    assert as_time["second"] == pytest.approx(0.8, abs=0.02)


def test_a_row_tells_the_farthest_bound_of_the_seeds() -> None:
    plan = SharePlan("weighted", "requests", (0.75, 0.25))
    row = share_row(plan, 3, 0.5)
    bounds = [row["shares"]["first"][bound] for bound in ("low", "high")]
    assert row["points_off"] == pytest.approx(100.0 * max(abs(bound - 0.75) for bound in bounds))
    assert bounds[0] < bounds[1]


def test_the_farthest_bound_is_of_any_class_and_side() -> None:
    plan = SharePlan("weighted", "requests", (0.5, 0.5))
    intervals = {"first": Interval(0.5, 0.49, 0.51), "second": Interval(0.5, 0.46, 0.54)}
    assert farthest(plan, intervals) == pytest.approx(4.0)
