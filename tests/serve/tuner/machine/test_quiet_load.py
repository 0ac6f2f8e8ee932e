"""Under a quiet load nothing is tried, nothing is kept that was not shown, and chance is no change of the load."""

import math
from collections.abc import Callable

import pytest
from tests.serve.tuner.conftest import INITIAL, WINDOW_S, Drive, flat, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.another_workload import shift_of
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.paired_trial import PairedTrial
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)


def test_where_nothing_can_be_gained_nothing_is_tried(drive: MakeDrive) -> None:
    tuner = drive(flat, wanted=FAR, gain=0.5, most_gain=0.01)
    for _ in range(120):
        tuner.turn()
    assert {each.state for each in tuner.decisions} <= {State.WATCH, State.HOLD}
    assert (
        tuner.decision.reason
        == f"would try {tuner.decision.would}, but at most 1 % can be gained here: that is what requests wait"
    )


def test_once_requests_wait_it_is_tried(drive: MakeDrive) -> None:
    tuner = drive(flat, wanted=FAR, gain=0.5, most_gain=0.01)
    for _ in range(20):
        tuner.turn()
    tuner.most_gain = 0.5
    assert tuner.until(State.TRIAL).pool_tuple != INITIAL


@pytest.mark.parametrize(("per_s", "trials"), [(30.0, False), (50.0, True)])
def test_too_few_requests_tell_nothing(drive: MakeDrive, per_s: float, trials: bool) -> None:
    tuner = drive(lambda _tuple, _at_s: per_s, wanted=FAR, rules=rules(least_requests=int(40 * WINDOW_S)))
    for _ in range(60):
        tuner.turn()
    assert any(each.state is State.TRIAL for each in tuner.decisions) is trials
    assert any("too little load to tell" in each.reason for each in tuner.decisions) is not trials


def reading(rate: float, seconds: float = 5.0) -> Reading:
    return Reading(goodput_per_s=rate, throughput_per_s=rate, seconds=seconds)


@pytest.mark.parametrize(("noise", "verdict"), [(0.6, "worse"), (0.02, "no worse")])
def test_what_scatters_too_much_to_tell_is_not_kept(noise: float, verdict: str) -> None:
    """A gain of 3.7 % with a standard error of 37 % is neither a gain nor no loss."""
    pace = PaceSettings()
    windows = [reading(1000.0 * math.exp(noise * way)) for way in (0.0, 1.0, -1.0, 0.5, -0.5, 0.0, 0.0)]
    trial = PairedTrial(before=INITIAL, candidate=FAR, noise=noise, befores=(windows[0],))
    for place in range(pace.most_pairs):
        trial = trial.with_reading(windows[place + 1]).with_reading(windows[-place - 1])
    assert trial.verdict(GuardSettings(), pace) == verdict


def test_chance_of_few_requests_is_no_other_workload() -> None:
    """40 requests after 60 each are within what counting explains; 4,000 after 6,000 are not."""
    few, many = ([reading(rate, 1.0) for rate in (scale * 60.0,) * 4] for scale in (1.0, 100.0))
    assert shift_of(reading(40.0, 1.0), few, rules()) is None
    assert shift_of(reading(4000.0, 1.0), many, rules()) is not None


def test_chance_of_few_looks_is_no_other_workload() -> None:
    """A look every 0.2 s meets a tenth of a request: that a window met five times as many is chance."""
    few, many = (
        [Reading(goodput_per_s=600.0 / inside, throughput_per_s=600.0, seconds=5.0, by_time=True) for inside in found]
        for found in ((0.1, 0.1, 0.14, 0.1, 0.5), (20.0, 20.0, 28.0, 20.0, 100.0))
    )
    assert shift_of(few[-1], few[:-1], rules()) is None
    assert shift_of(many[-1], many[:-1], rules()) is not None
