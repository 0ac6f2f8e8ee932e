"""A limit of threads that is lowered while the tuner is at work."""

from dataclasses import replace

import pytest
from tests.serve.tuner.conftest import INITIAL, Drive, flat, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.why_not import Rules

FAR = PoolTuple(16, 3, 500)


def with_threads(most: int) -> Rules:
    """Rules of a server whose limit leaves so many threads to the pool."""
    known = rules()
    return replace(known, envelope=replace(known.envelope, most_threads=most))


@pytest.mark.parametrize("state", [State.TRIAL, State.VERIFY])
def test_limit_of_threads_that_is_lowered_ends_a_try_beyond_it(state: State) -> None:
    tuner = Drive(rising, wanted=FAR)
    tuner.until(state)
    tuner.rules = with_threads(10)
    assert tuner.turn().pool_tuple == INITIAL
    assert "(4, 3, 500) may ask for 16 threads, and no more than 10 are allowed by now" in tuner.decision.reason
    assert {each.pool_tuple for each in tuner.run(100)} == {INITIAL}
    assert not tuner.memory.refuses(PoolTuple(4, 3, 500)), "it is not to blame"
    tuner.rules = rules()
    tuner.until(State.TRIAL)


def test_try_that_the_server_refuses_for_its_threads_by_now_is_not_refused_for_an_hour() -> None:
    tuner = Drive(rising, wanted=FAR)
    tuner.until(State.TRIAL)
    tuner.rules = with_threads(10)
    tuner.turn(in_force=INITIAL, reading=None, refused="may ask for 32 threads")
    assert "no more than 10 are allowed by now" in tuner.decision.reason
    assert tuner.memory.refusals == ()


def test_limit_of_threads_that_is_lowered_lets_a_try_of_fewer_go_on() -> None:
    tuner = Drive(flat, wanted=PoolTuple(1, 3, 500))
    tuner.until(State.TRIAL)
    tuner.rules = with_threads(3)
    assert tuner.turn().state is State.TRIAL


def test_step_that_waits_for_approval_is_dropped_where_it_asks_for_too_many_threads_by_now() -> None:
    tuner = Drive(rising, wanted=FAR, rules=rules(approval=True))
    tuner.run(30)
    tuner.rules = replace(with_threads(10), approval=True)
    decision = tuner.turn(approved="(4, 3, 500)")
    assert (decision.state, decision.would) == (State.HOLD, None)
    tuner.rules = rules(approval=True)
    tuner.run(100)
    assert tuner.decision.would == PoolTuple(4, 3, 500)
