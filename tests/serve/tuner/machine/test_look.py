"""What a window comes to for who decides, and what of a prediction may be counted on."""

import math
from dataclasses import replace

import pytest
from pydantic import ValidationError

from poolpilot.env import CurveServer, observe
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction
from poolpilot.serve.tuner.machine.look import Proposal, Reading

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
