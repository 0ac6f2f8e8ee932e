"""Long classes count as a floor, as requests like any other, or not at all."""

import math

import pytest
from tests.pipelines.evaluate.live.judging.test_comparison import seen

from poolpilot.featurizer.window import Window
from poolpilot.lab.sql_workload import SqlClass, SqlWorkload
from suite.objectives import OBJECTIVES, ObjectiveName, judged

SHORT = SqlClass("short", "ranges", 8, target_ms=1.0, weight=2.0)
WORKLOAD = SqlWorkload("w", "f", (SHORT, SqlClass("long", "analytic", 2, min_share=0.3)))


def goodput(name: ObjectiveName, window: Window) -> float:
    return OBJECTIVES[name](WORKLOAD).goodput_per_s(window)


def test_short_counts_the_short_class_whatever_its_target_and_keeps_a_floor_under_the_long_one() -> None:
    objective = OBJECTIVES["short"](WORKLOAD)
    assert goodput("short", seen(100, 10)) == goodput("short", seen(100, 0)) == 200.0
    assert objective.feasible(seen(100, 4), seen(50, 10))
    assert not objective.feasible(seen(1000, 2), seen(50, 10))


def test_throughput_counts_every_request_alike() -> None:
    assert goodput("throughput", seen(100, 10)) == 110.0
    assert OBJECTIVES["throughput"](WORKLOAD).feasible(seen(1000, 0), seen(50, 10))


def test_p99_is_better_the_shorter_the_tail_of_the_short_class() -> None:
    assert goodput("p99", seen(100, 10, 5.0)) == pytest.approx(200.0, rel=0.05)
    assert goodput("p99", seen(100, 10, 5.0)) > goodput("p99", seen(1000, 10, 8.0))
    assert goodput("p99", seen(0, 10)) == OBJECTIVES["p99"](WORKLOAD).goodput_floor_per_s


@pytest.mark.parametrize("name", OBJECTIVES)
def test_judge_does_not_pay_for_threads(name: ObjectiveName) -> None:
    objective, window = OBJECTIVES[name](WORKLOAD), seen(100, 10)
    assert objective.value(window) < judged(objective).value(window)
    assert judged(objective).value(window) == pytest.approx(math.log(objective.goodput_per_s(window)))
