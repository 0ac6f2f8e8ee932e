"""A person sets the pool: what the tuner was wary of before, it is wary of afterwards."""

from collections.abc import Callable

import pytest
from tests.serve.tuner.conftest import WINDOW_S, Drive, falling, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.caution import Caution
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.memory import Memory

MakeDrive = Callable[..., Drive]
FAR, THEIRS = PoolTuple(16, 3, 500), PoolTuple(7, 3, 500)
NOW_S = 1_800_000_000.0


def stepped_in(tuner: Drive) -> None:
    """Somebody sets another tuple."""
    assert tuner.turn(in_force=THEIRS, reading=None).state is State.STAND_DOWN


def started_again(tuner: Drive) -> Memory:
    """What the next tuner begins with, at once."""
    caution = Caution.of(tuner.memory, tuner.at_s, NOW_S)
    return caution.onto(Memory.begin(THEIRS, 0.0), NOW_S, GuardSettings())


@pytest.mark.parametrize("windows", [0, 1])
def test_what_was_tried_when_a_person_stepped_in_is_not_tried_again(drive: MakeDrive, windows: int) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    trial = tuner.memory.trial
    assert trial is not None
    tuner.run(windows)
    stepped_in(tuner)
    assert tuner.memory.refuses(trial.candidate)
    assert started_again(tuner).refuses(trial.candidate)


def test_what_was_refused_and_taken_back_before_stays_so(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR)
    tuner.until(State.COOL_DOWN)
    before = tuner.memory
    assert before.refusals
    assert before.roll_backs_s
    stepped_in(tuner)
    assert tuner.memory.refusals == before.refusals
    assert tuner.memory.roll_backs_s == before.roll_backs_s


def test_open_circuit_goes_on_for_who_starts_the_tuner_again(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR, rules=rules(breaker_roll_backs=1, circuit_open_s=1000.0))
    tuner.until(State.OPEN_CIRCUIT)
    ends_s = tuner.memory.wait_until_s
    assert ends_s is not None
    stepped_in(tuner)
    stepped_in(tuner)
    memory = started_again(tuner)
    assert memory.state is State.OPEN_CIRCUIT
    assert memory.wait_until_s == pytest.approx(ends_s - tuner.at_s)


@pytest.mark.parametrize("stand_down_s", [100.0, 3000.0])
def test_a_stand_down_for_a_while_is_over_in_time_and_the_circuit_in_its_own(
    drive: MakeDrive, stand_down_s: float
) -> None:
    settings = rules(breaker_roll_backs=1, circuit_open_s=1000.0, stand_down_s=stand_down_s)
    tuner = drive(falling, wanted=FAR, rules=settings)
    tuner.until(State.OPEN_CIRCUIT)
    opened_s = tuner.at_s
    stepped_in(tuner)
    while tuner.memory.state is State.STAND_DOWN:
        tuner.turn()
    assert tuner.at_s - opened_s == pytest.approx(stand_down_s, abs=2.0 * WINDOW_S)
    assert tuner.memory.state is (State.OPEN_CIRCUIT if stand_down_s < 1000.0 else State.WATCH)
    if stand_down_s < 1000.0:
        assert tuner.decision.reason.startswith("the stand-down is over; the circuit is open for 8")
        tuner.until(State.WATCH, most=1000)
        assert tuner.at_s - opened_s == pytest.approx(1000.0, abs=2.0 * WINDOW_S)
    assert tuner.memory.circuit_open_until_s(tuner.at_s) is None


@pytest.mark.parametrize(
    ("now", "theirs"),
    [(PoolTuple(4, 3, 100), PoolTuple(2, 3, 100)), (PoolTuple(6, 3, 100), PoolTuple(6, 3, 100))],
    ids=["another knob", "this one too"],
)
def test_what_was_being_tried_does_not_stay_beside_what_a_person_sets(
    drive: MakeDrive, now: PoolTuple, theirs: PoolTuple
) -> None:
    """Before, a size that nobody had verified stayed for good, where only the stall limit was somebody's wish."""
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    decision = tuner.turn(in_force=now, reading=None)
    assert decision.state is State.STAND_DOWN
    assert decision.pool_tuple == decision.incumbent == tuner.memory.initial == theirs
    assert (f"which is {theirs} without what was being tried" in decision.reason) is (now != theirs)
    assert {each.pool_tuple for each in tuner.run(20)} == {theirs}


def test_what_was_tried_does_not_stay_where_a_person_steps_in_before_it_is_taken_back(drive: MakeDrive) -> None:
    """Before, knobs were compared with those of what was verified, which had not come back yet."""
    tuner, theirs = drive(falling, wanted=FAR), PoolTuple(2, 3, 100)
    tuner.until(State.TRIAL)
    while tuner.decision.pool_tuple == PoolTuple(4, 3, 500):
        tuner.turn()
    decision = tuner.turn(in_force=PoolTuple(4, 3, 100), reading=None, overtaken=True)
    assert decision.state is State.STAND_DOWN
    assert decision.pool_tuple == decision.incumbent == tuner.memory.initial == theirs
    assert {each.pool_tuple for each in tuner.run(20)} == {theirs}


def test_cleaning_up_that_the_server_refuses_is_given_up_at_once(drive: MakeDrive) -> None:
    tuner, theirs = drive(rising, wanted=FAR), PoolTuple(4, 3, 100)
    tuner.until(State.TRIAL)
    tuner.turn(in_force=theirs, reading=None)
    decision = tuner.turn(in_force=theirs, reading=None, refused="no")
    assert (decision.state, decision.pool_tuple, decision.incumbent) == (State.STAND_DOWN, theirs, theirs)
    assert "(2, 3, 100) could not be set" in decision.reason
    assert {each.pool_tuple for each in tuner.run(5)} == {theirs}


def test_nothing_is_cleaned_up_to_what_may_not_be_set(drive: MakeDrive) -> None:
    tuner, theirs = drive(rising, wanted=FAR, rules=rules(most_oversubscribe=8)), PoolTuple(4, 9, 500)
    tuner.until(State.TRIAL)
    assert tuner.turn(in_force=theirs, reading=None).pool_tuple == theirs


@pytest.mark.parametrize("state", [State.TRIAL, State.VERIFY])
def test_a_person_who_undoes_a_try_is_heard(drive: MakeDrive, state: State) -> None:
    """Before, their tuple was taken for one that the server had not set, and the next step was tried at once."""
    tuner = drive(rising, wanted=FAR)
    tuner.until(state)
    incumbent = tuner.memory.incumbent
    decision = tuner.turn(in_force=incumbent, reading=None, changed_by_others=True)
    assert (decision.state, decision.pool_tuple) == (State.STAND_DOWN, incumbent)
    assert {each.state for each in tuner.run(20)} == {State.STAND_DOWN}


def test_a_person_who_sets_the_candidate_themselves_keeps_it(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    candidate = tuner.decision.pool_tuple
    while tuner.decision.pool_tuple == candidate:
        tuner.turn()
    decision = tuner.turn(in_force=candidate, reading=None, changed_by_others=True)
    assert (decision.state, decision.pool_tuple) == (State.STAND_DOWN, candidate)
