"""What a window comes to for who decides, and what of a prediction may be counted on."""

import math
from dataclasses import replace

import pytest
from pydantic import ValidationError

from poolpilot.env import CurveServer, observe
from poolpilot.env.objective import Objective
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import ClassWindow, Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.serve.tuner.machine.evidence.tuner_observation import MOST_GAIN, Proposal, Reading

TIMED = Objective(signal="time_in_system")


@pytest.fixture
def window() -> Window:
    """Of a server whose clients do not report; 400 requests a second, of which 8 were in the pool."""
    seen = observe(CurveServer([(1, 100), (16, 1600)], connections=64), 10.0).window
    return replace(seen.without_classes(), in_system=8.0)


def test_goodput_by_time_keeps_its_completions(window: Window) -> None:
    reading = Reading.of(window, TIMED)
    assert reading.by_time
    assert reading.goodput_per_s == pytest.approx(50.0)
    assert reading.by_completions().goodput_per_s == reading.throughput_per_s == pytest.approx(400.0)


def test_goodput_by_completions_is_left_as_it_is(window: Window) -> None:
    for of, objective in ((window, Objective()), (replace(window, in_system=None), TIMED)):
        reading = Reading.of(of, objective)
        assert not reading.by_time
        assert reading.by_completions() == reading


@pytest.mark.parametrize("ratio", [1e200, math.inf, math.nan])
def test_ratios_that_nothing_can_be_computed_with_are_refused(ratio: float) -> None:
    with pytest.raises(ValidationError, match=r"ratios\.1"):
        Reading(goodput_per_s=1.0, throughput_per_s=1.0, seconds=5.0, ratios=(None, ratio))


@pytest.mark.parametrize(
    ("improvement", "counted"), [(None, None), (0.1, 0.1), (-0.2, 0.0), (3.0, 1.0), (math.nan, None), (math.inf, None)]
)
def test_what_is_learned_counts_as_a_share_or_not_at_all(improvement: float | None, counted: float | None) -> None:
    named, in_force = PoolTuple(4, 3, 500), PoolTuple(2, 3, 500)
    prediction = Prediction(named, in_force, False, ("told so",), "digest", expected_gain=0.0, improvement=improvement)
    assert Proposal.of(prediction, 0.0).improvement == counted


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (None, None, (None, None)),
        (0.1, 0.5, (pytest.approx(-0.1), pytest.approx(0.3))),
        (-1e9, math.inf, (-MOST_GAIN, None)),
        (math.nan, 1e9, (None, MOST_GAIN)),
    ],
)
def test_interval_of_a_gain_is_that_over_what_is_in_force(
    low: float | None, high: float | None, told: tuple[float | None, float | None]
) -> None:
    named, in_force = PoolTuple(4, 3, 500), PoolTuple(2, 3, 500)
    prediction = Prediction(named, in_force, False, ("told so",), "digest", 0.4, gain_low=low, gain_high=high)
    proposal = Proposal.of(prediction, 0.2)
    assert (proposal.gain_low, proposal.gain_high) == told


def test_interval_of_a_gain_that_nobody_believes_is_left_out() -> None:
    named, in_force = PoolTuple(4, 3, 500), PoolTuple(2, 3, 500)
    for gain in (1e9, math.nan, None):
        prediction = Prediction(named, in_force, False, ("told so",), "digest", gain, gain_low=0.1, gain_high=0.2)
        proposal = Proposal.of(prediction, 0.0)
        assert (proposal.gain, proposal.gain_low, proposal.gain_high) == (None, None, None)


def test_tails_are_those_of_the_classes_and_latency_is_between_them(window: Window) -> None:
    fast, slow = (ClassWindow(100.0, Histogram.of_values([us] * 100)) for us in (1000.0, 16000.0))
    seen = replace(window, classes={"fast": fast, "slow": slow, "none": ClassWindow(0.0, Histogram())})
    reading = Reading.of(seen, Objective())
    assert reading.tails_ms == {"fast": pytest.approx(1.0, rel=0.07), "slow": pytest.approx(16.0, rel=0.07)}
    assert reading.latency_ms == pytest.approx(math.sqrt(reading.tails_ms["fast"] * reading.tails_ms["slow"]))
    assert Reading.model_validate_json(reading.model_dump_json(exclude_defaults=True)) == reading


def test_who_reports_no_classes_has_no_tail_and_needs_no_room_in_a_log(window: Window) -> None:
    reading = Reading.of(window, TIMED)
    assert (reading.tails_ms, reading.by_time) == ({}, True)
    assert reading.latency_ms == pytest.approx(20.0)
    assert "tails_ms" not in reading.model_dump(mode="json", exclude_defaults=True)
