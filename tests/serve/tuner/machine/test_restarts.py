"""A restart of the server: what it ends, and what goes on."""

from collections.abc import Callable

import pytest
from tests.serve.tuner.conftest import INITIAL, WINDOW_S, Drive, falling, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import Decision, State

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)


def restart(tuner: Drive, in_force: PoolTuple) -> Decision:
    """The server is gone for a window, and then says what its file says."""
    tuner.turn(in_force=None, reading=None, proposal=None)
    tuner.in_force = in_force
    return tuner.turn(in_force=in_force, reading=None, proposal=None, restarted=True)


def test_a_restart_of_the_server_does_not_end_what_a_person_has_said(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.turn(in_force=PoolTuple(7, 3, 500), reading=None)
    decision = restart(tuner, INITIAL)
    assert (decision.state, decision.pool_tuple) == (State.STAND_DOWN, INITIAL)
    assert decision.reason == f"the server was restarted: {INITIAL} is in force; stand down goes on"
    assert {(each.state, each.pool_tuple) for each in tuner.run(100)} == {(State.STAND_DOWN, INITIAL)}


def test_a_restart_of_the_server_does_not_end_a_stand_down_earlier(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(stand_down_s=500.0))
    tuner.turn(in_force=PoolTuple(7, 3, 500), reading=None)
    stood_down_s = tuner.at_s
    restart(tuner, INITIAL)
    tuner.until(State.WATCH)
    assert tuner.at_s - stood_down_s == pytest.approx(500.0, abs=WINDOW_S)


@pytest.mark.parametrize("kill", [False, True])
def test_a_restart_of_the_server_does_not_close_an_open_circuit(drive: MakeDrive, *, kill: bool) -> None:
    settings = rules(breaker_roll_backs=1, circuit_open_s=1000.0, retry_after_s=0.0)
    tuner = drive(falling, wanted=FAR, rules=settings)
    tuner.until(State.OPEN_CIRCUIT)
    opened_s = tuner.at_s
    tuner.turn(kill=kill)
    restart(tuner, INITIAL)
    tuner.until(State.WATCH)
    assert tuner.at_s - opened_s == pytest.approx(1000.0, abs=WINDOW_S)
    tuner.until(State.OPEN_CIRCUIT, most=500)
    assert tuner.memory.wait_until_s == pytest.approx(tuner.at_s + 2000.0), "twice as long, as without a restart"


def test_a_restart_of_the_server_ends_a_pause_after_a_try(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR)
    tuner.until(State.COOL_DOWN)
    assert restart(tuner, INITIAL).state is State.WATCH
