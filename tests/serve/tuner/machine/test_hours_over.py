"""Hours that end in the middle of a trial: nothing that is not verified stays in force outside them."""

from datetime import datetime, timedelta

import pytest
from tests.serve.tuner.conftest import INITIAL, Drive, flat, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.guard.hours import Hours
from poolpilot.serve.tuner.machine.decision import State

FAR = PoolTuple(16, 3, 500)


def at(tuner: Drive) -> datetime:
    """When its last observation was."""
    return datetime.fromtimestamp(tuner.observations[-1].unix_s)


@pytest.mark.parametrize("state", [State.TRIAL, State.VERIFY])
def test_try_in_progress_is_taken_back_and_is_not_to_blame(state: State) -> None:
    tuner = Drive(rising, wanted=FAR)
    tuner.until(state)
    incumbent, candidate = tuner.memory.incumbent, tuner.memory.trial.candidate if tuner.memory.trial else FAR
    over = Hours.parse(f"daily {at(tuner) - timedelta(hours=1):%H:%M}-{at(tuner):%H:%M}")
    tuner.rules = rules(hours=(over,))
    assert tuner.turn().pool_tuple == incumbent
    assert f"the hours ({over.text}) are over before {candidate} is verified" in tuner.decision.reason
    assert {each.pool_tuple for each in tuner.run(100)} == {incumbent}
    assert not tuner.memory.refuses(candidate)
    tuner.rules = rules()
    tuner.until(State.TRIAL)


def test_no_look_outside_the_hours_leaves_anything_unverified_in_force() -> None:
    tuner = Drive(flat, wanted=FAR, rules=rules(observe_for_s=0.0, trials_per_hour=99), noise=0.08, seed=3)
    tuner.turn()
    over = Hours.parse(f"daily {at(tuner):%H:%M}-{at(tuner) + timedelta(minutes=1):%H:%M}")
    tuner.rules = rules(hours=(over,), observe_for_s=0.0, trials_per_hour=99)
    tuner.until(State.TRIAL)
    tuner.run(100)
    outside = [
        decision
        for observation, decision in zip(tuner.observations, tuner.decisions, strict=True)
        if not over.hold(datetime.fromtimestamp(observation.unix_s))
    ]
    assert outside
    assert all(each.pool_tuple == each.incumbent == INITIAL for each in outside)
    assert any("are over before (4, 3, 500) is verified: back to (2, 3, 500)" in each.reason for each in outside)


def test_try_goes_on_within_the_hours() -> None:
    tuner = Drive(rising, wanted=FAR, rules=rules(hours=(Hours.parse("always"),)))
    tuner.until(State.TRIAL)
    assert tuner.turn().state is State.TRIAL
