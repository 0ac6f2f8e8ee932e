"""Shares under saturation in the simulated pool: within 2 points of every weight, and not by chance."""

import pytest

from poolpilot.pipelines.bench.disciplines.share_plan import SIMULATED_PLANS, SharePlan
from poolpilot.pipelines.bench.disciplines.shares import farthest, share_row, simulated_shares
from poolpilot.pipelines.bench.serving.interval import Interval


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
