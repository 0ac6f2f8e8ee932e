"""Plans of shares: what is shared out, how far off it is, and what a plan refuses to count."""

import math

import pytest

from poolpilot.pipelines.bench.disciplines.share_plan import LIVE_PLANS, SIMULATED_PLANS, SharePlan

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
