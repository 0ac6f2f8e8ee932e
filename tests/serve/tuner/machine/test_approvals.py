"""Steps that wait for a person: how an approval may be written, and what is said of the step before."""

from collections.abc import Callable

import pytest
from tests.serve.tuner.conftest import Drive, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import State

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)


@pytest.mark.parametrize("approved", ["4,3,500", " (4,3,500)\n"])
def test_approval_may_be_written_as_people_do(drive: MakeDrive, approved: str) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(approval=True))
    tuner.run(30)
    assert tuner.turn(approved=approved).state is State.TRIAL


@pytest.mark.parametrize(
    ("approved", "said"),
    [("(8, 3, 500)", "(8, 3, 500) is approved"), ("yes", "what is approved is no configuration such as (4, 3, 250)")],
)
def test_approval_of_something_else_is_told(drive: MakeDrive, approved: str, said: str) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(approval=True))
    tuner.run(30)
    decision = tuner.turn(approved=approved)
    assert decision.state is State.HOLD
    assert decision.reason.endswith(f"; {said}")


def test_approval_that_cannot_be_read_is_told(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(approval=True))
    tuner.run(30)
    decision = tuner.turn(unread_approval="Permission denied")
    assert decision.state is State.HOLD
    assert "waits for approval" in decision.reason
    assert decision.reason.endswith("; the file that would hold it cannot be read: Permission denied")


def test_what_a_try_may_ask_for_at_worst_is_stated_before(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, rules=rules(approval=True, thread_stack_bytes=299_008))
    tuner.run(30)
    assert "waits for approval (16 threads at work and 5 MB of their stacks at worst)" in tuner.decision.reason
    tuner.turn(approved="4,3,500")
    assert (
        tuner.decision.reason == "(4, 3, 500) may be tried now (16 threads at work and 5 MB of their stacks at worst)"
    )
