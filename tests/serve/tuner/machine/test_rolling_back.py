"""Roll-backs: what a trial is blamed for, how long nothing is tried then, and the way out of such a pause."""

from collections.abc import Callable

import pytest
from tests.serve.tuner.conftest import INITIAL, Drive, falling, flat, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)


def shifting(shifted: list[float], of: Callable[[PoolTuple, float], float] = rising) -> Callable[..., float]:
    """A formula whose load is scaled by the last of `shifted`."""
    return lambda where, at_s: of(where, at_s) * shifted[-1]


def test_several_roll_backs_open_the_circuit_and_it_closes_again(drive: MakeDrive) -> None:
    settings = rules(retry_after_s=0.0, cool_down_s=0.0, ask_every_s=0.0, breaker_roll_backs=2, circuit_open_s=600.0)
    tuner = drive(falling, wanted=FAR, rules=settings)
    tuner.until(State.OPEN_CIRCUIT)
    opened_s = tuner.at_s
    assert sum(state is State.ROLL_BACK for state in tuner.states()) == 2
    assert tuner.in_force == INITIAL
    tuner.until(State.TRIAL)
    assert tuner.at_s - opened_s >= 600.0


def test_circuit_stays_open_twice_as_long_each_time_until_a_try_is_better(drive: MakeDrive) -> None:
    settings = rules(
        retry_after_s=0.0,
        cool_down_s=0.0,
        ask_every_s=0.0,
        breaker_roll_backs=1,
        circuit_open_s=600.0,
        circuit_most_s=2000.0,
    )
    tuner = drive(falling, wanted=FAR, rules=settings)
    lasted: list[float] = []
    for _ in range(4):
        tuner.until(State.OPEN_CIRCUIT)
        opened_s = tuner.at_s
        tuner.until(State.WATCH, most=500)
        lasted.append(tuner.at_s - opened_s)
    assert lasted == pytest.approx([600.0, 1200.0, 2000.0, 2000.0], abs=5.0)
    tuner.throughput = rising
    tuner.run(100)
    assert tuner.memory.incumbent == FAR
    tuner.throughput, tuner.wanted = falling, PoolTuple(32, 3, 500)
    tuner.until(State.OPEN_CIRCUIT)
    opened_s = tuner.at_s
    tuner.until(State.WATCH)
    assert tuner.at_s - opened_s == pytest.approx(600.0, abs=5.0)


def test_a_load_that_falls_in_the_middle_of_a_try_is_not_blamed_on_it(drive: MakeDrive) -> None:
    shifted = [1.0]
    tuner = drive(shifting(shifted), wanted=FAR)
    tuner.until(State.TRIAL)
    candidate = tuner.memory.expected
    shifted.append(0.1)
    tuner.until(State.ROLL_BACK, most=2)
    assert tuner.turn().state is State.WATCH
    assert "does no better: the workload is another one" in tuner.decision.reason
    assert tuner.memory.roll_backs_s == ()
    assert not tuner.memory.refuses(candidate)
    tuner.run(120)
    assert tuner.memory.incumbent == FAR


def test_a_load_that_ends_while_a_try_must_stand_is_not_blamed_on_it(drive: MakeDrive) -> None:
    """Goodput by the time that requests spend tells nothing of it, and the rows that are read fall with the load."""
    shifted = [1.0]

    def timed() -> Reading:
        """A window whose requests spend as long as ever, however few there are."""
        reading = tuner.observation().reading
        assert reading is not None
        return reading.model_copy(update={"throughput_per_s": reading.goodput_per_s * shifted[-1], "by_time": True})

    tuner = drive(rising, wanted=FAR, rows=lambda _where, _at_s: 1e6 * shifted[-1])
    while tuner.turn(reading=timed()).state is not State.VERIFY:
        assert tuner.at_s < 2000.0
    candidate = tuner.memory.expected
    shifted.append(0.01)
    assert tuner.turn(reading=timed()).state is State.ROLL_BACK
    assert tuner.turn(reading=timed()).state is State.WATCH
    assert not tuner.memory.refuses(candidate)
    assert tuner.memory.roll_backs_s == ()


def test_loads_that_fall_in_the_middle_of_tries_open_no_circuit(drive: MakeDrive) -> None:
    shifted = [1.0]
    tuner = drive(shifting(shifted), wanted=FAR)
    for number in range(1, 6):
        tuner.until(State.TRIAL)
        shifted.append(0.3**number)
        tuner.until(State.ROLL_BACK, most=8)
    tuner.run(200)
    assert State.OPEN_CIRCUIT not in tuner.states()
    assert tuner.memory.incumbent == FAR


def test_a_window_in_which_a_backup_runs_acquits_nobody(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR)
    tuner.until(State.ROLL_BACK)
    reading = tuner.observation().reading
    assert reading is not None
    held_up = reading.model_copy(update={"throughput_per_s": 500.0, "goodput_per_s": 500.0})
    assert tuner.turn(reading=held_up, hindrances=(Hindrance("a backup runs"),)).state is State.COOL_DOWN
    assert len(tuner.memory.roll_backs_s) == 1


def test_a_way_back_that_is_refused_once_does_not_close_an_open_circuit(drive: MakeDrive) -> None:
    tuner = drive(flat, wanted=FAR)
    tuner.run(5)
    until_s = tuner.at_s + 20_000.0
    tuner.memory = tuner.memory.but(state=State.OPEN_CIRCUIT, paused=State.OPEN_CIRCUIT, wait_until_s=until_s)
    assert tuner.turn(refused="no threads").state is State.ROLL_BACK
    assert tuner.turn().state is State.OPEN_CIRCUIT
    assert tuner.memory.wait_until_s == until_s


def test_what_fell_on_probation_with_the_load_opens_no_circuit_either(drive: MakeDrive) -> None:
    shifted = [1.0]
    tuner = drive(shifting(shifted), wanted=PoolTuple(4, 3, 500), gain=0.5)
    tuner.until(State.HOLD)
    shifted.append(0.001)
    tuner.until(State.ROLL_BACK, most=4)
    assert tuner.memory.incumbent == INITIAL
    tuner.throughput = lambda _where, _at_s: 0.1
    assert tuner.turn().state is State.WATCH
    assert tuner.memory.roll_backs_s == ()


@pytest.mark.parametrize("pause", [State.OPEN_CIRCUIT, State.COOL_DOWN])
def test_what_was_found_at_first_is_the_way_out_of_a_pause(drive: MakeDrive, pause: State) -> None:
    """What was verified for a workload that is gone does not stay for the hours of an open circuit."""
    others: list[bool] = []
    tuner = drive(lambda where, at_s: (falling if others else rising)(where, at_s), wanted=FAR)
    tuner.run(120)
    assert tuner.memory.incumbent == FAR
    until_s = tuner.at_s + 20_000.0
    tuner.memory = tuner.memory.but(state=pause, paused=pause, wait_until_s=until_s, openings=4)
    tuner.run(20)
    assert {where for where, _ in tuner.seen[-20:]} == {FAR}
    others.append(True)
    tuner.run(60)
    assert tuner.memory.incumbent == tuner.in_force == INITIAL
    assert (tuner.decision.state, tuner.memory.wait_until_s) == (pause, until_s)
    assert tuner.memory.openings == 0, "it was shown to be better"
    assert {decision.pool_tuple for decision in tuner.run(200)} == {INITIAL}


def test_in_a_pause_what_was_found_at_first_waits_for_approval(drive: MakeDrive) -> None:
    others: list[bool] = []
    tuner = drive(lambda where, at_s: (falling if others else rising)(where, at_s), wanted=FAR)
    tuner.run(120)
    tuner.memory = tuner.memory.but(
        state=State.OPEN_CIRCUIT, paused=State.OPEN_CIRCUIT, wait_until_s=tuner.at_s + 20_000.0
    )
    tuner.rules = rules(approval=True)
    others.append(True)
    tuner.run(60)
    assert (tuner.decision.pool_tuple, tuner.decision.state, tuner.decision.would) == (FAR, State.OPEN_CIRCUIT, INITIAL)
    tuner.turn(approved=str(INITIAL))
    assert tuner.decision.pool_tuple == INITIAL


def test_a_person_who_has_set_the_pool_is_left_alone_under_another_workload_too(drive: MakeDrive) -> None:
    shifted = [1.0]
    tuner = drive(shifting(shifted), wanted=FAR, rules=rules(stand_down_s=20_000.0))
    tuner.run(120)
    tuner.turn(in_force=PoolTuple(5, 3, 500))
    tuner.in_force = PoolTuple(5, 3, 500)
    shifted.append(0.1)
    assert {decision.pool_tuple for decision in tuner.run(100)} == {PoolTuple(5, 3, 500)}
