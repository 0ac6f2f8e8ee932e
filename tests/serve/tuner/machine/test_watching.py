"""Another workload is told from chance, by goodput and by completed requests."""

import math

import pytest
from tests.serve.tuner.conftest import rules

from poolpilot.serve.tuner.machine.look import Reading
from poolpilot.serve.tuner.machine.watching import shift

RULES = rules()


def reading(goodput_per_s: float, throughput_per_s: float, *, by_time: bool = True) -> Reading:
    return Reading(goodput_per_s=goodput_per_s, throughput_per_s=throughput_per_s, seconds=5.0, by_time=by_time)


SCATTERED = [reading(goodput_per_s, 1000.0) for goodput_per_s in (100.0, 250.0, 80.0, 300.0)]


def test_what_scatter_hides_is_told_by_completed_requests() -> None:
    assert shift(reading(150.0, 990.0), SCATTERED, RULES) == 0.0
    assert shift(reading(150.0, 500.0), SCATTERED, RULES) == pytest.approx(math.log(0.5))
    assert shift(reading(150.0, 2000.0), SCATTERED, RULES) == pytest.approx(math.log(2.0))


def test_where_goodput_is_no_time_it_alone_tells() -> None:
    usual = [reading(100.0, 1000.0, by_time=False)] * 4
    assert shift(reading(100.0, 500.0, by_time=False), usual, RULES) == 0.0
    assert shift(reading(50.0, 1000.0, by_time=False), usual, RULES) == pytest.approx(math.log(0.5))


def test_goodput_that_changes_beyond_chance_is_enough() -> None:
    usual = [reading(100.0, 1000.0)] * 4
    assert shift(reading(200.0, 1000.0), usual, RULES) == pytest.approx(math.log(2.0))
    assert shift(reading(120.0, 1000.0), usual, RULES) == 0.0
