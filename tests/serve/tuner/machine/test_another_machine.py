"""A quota or an affinity that changes under a tuner is another machine: said, without a verdict, and kept apart."""

from collections.abc import Callable, Sequence

import pytest
from tests.serve.tuner.conftest import INITIAL, Drive, falling, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import Decision, State

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)
SAID = "the server may use 1 processor by now instead of 2 processors"


def alike(_pool_tuple: PoolTuple, _at_s: float) -> Sequence[float]:
    """What the workload looks like, here and on any machine."""
    return (3.0, 1.0, 2.0, 0.5, 1.0)


def move(tuner: Drive, cpus: float = 1.0) -> Decision:
    tuner.cpus = cpus
    return tuner.turn()


@pytest.mark.parametrize(("cpus", "now"), [(1.0, "1 processor"), (1.95, "1.95 processors"), (4.0, "4 processors")])
def test_another_number_of_processors_is_said_once(drive: MakeDrive, cpus: float, now: str) -> None:
    tuner = drive(rising, wanted=INITIAL, cpus=2.0)
    tuner.run(10)
    workload = tuner.decision.workload
    decision = move(tuner, cpus)
    assert decision.reason.startswith(f"the server may use {now} by now instead of 2 processors; that is another mach")
    assert (decision.state, decision.pool_tuple, decision.workload) == (State.WATCH, INITIAL, workload + 1)
    assert "by now" not in tuner.turn().reason


def test_the_same_processors_or_unknown_ones_are_no_other_machine(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=INITIAL, cpus=2.0)
    tuner.run(5)
    tuner.cpus = None
    tuner.run(2)
    tuner.cpus = 2.0
    tuner.run(5)
    assert {each.workload for each in tuner.decisions} == {0}


@pytest.mark.parametrize(
    ("formula", "state"),
    [(rising, State.TRIAL), (falling, State.TRIAL), (rising, State.VERIFY), (falling, State.ROLL_BACK)],
)
def test_a_try_ends_without_a_verdict_and_what_is_verified_comes_back(
    drive: MakeDrive, formula: Callable[..., float], state: State
) -> None:
    tuner = drive(formula, wanted=FAR, cpus=2.0)
    tuner.until(state)
    incumbent, roll_back = tuner.memory.incumbent, tuner.memory.roll_backs_s
    decision = move(tuner)
    assert (decision.state, decision.pool_tuple) == (State.WATCH, incumbent)
    assert decision.reason.startswith(SAID)
    assert (tuner.memory.trial, tuner.memory.refusals, tuner.memory.roll_backs_s) == (None, (), roll_back)
    assert tuner.memory.known.entries == ()
    assert tuner.turn().state is State.WATCH


def test_what_was_taken_back_on_one_machine_may_be_tried_on_another(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR, cpus=2.0, rules=rules(cool_down_s=1.0, retry_after_s=1e6))
    tuner.until(State.ROLL_BACK)
    tuner.run(40)
    trials = len(tuner.memory.trials_s)
    move(tuner)
    tuner.until(State.TRIAL)
    assert len(tuner.memory.trials_s) == trials + 1


def test_what_a_person_has_said_goes_on(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR, cpus=2.0)
    tuner.run(3)
    tuner.in_force = PoolTuple(7, 3, 500)
    tuner.turn(in_force=PoolTuple(7, 3, 500), changed_by_others=True)
    assert move(tuner).state is State.STAND_DOWN
    assert tuner.decision.reason.startswith(SAID)


def test_what_fell_with_the_processors_is_not_blamed_on_what_was_verified_lately(drive: MakeDrive) -> None:
    share = [1.0]
    tuner = drive(lambda pool_tuple, at_s: share[0] * rising(pool_tuple, at_s), wanted=PoolTuple(4, 3, 500), cpus=2.0)
    tuner.until(State.HOLD)
    incumbent = tuner.memory.incumbent
    assert incumbent.pool_size == 4
    share[0] = 0.4
    move(tuner)
    tuner.run(20)
    assert tuner.memory.incumbent == incumbent
    assert not tuner.memory.roll_backs_s


def test_workloads_of_two_machines_are_kept_apart(drive: MakeDrive) -> None:
    """One workload: sixteen groups are right on two processors, two on one; each machine gets its own back at once."""

    def formula(pool_tuple: PoolTuple, at_s: float) -> float:
        return (rising if tuner.cpus == 2.0 else falling)(pool_tuple, at_s)

    tuner = drive(formula, ratios=alike, wanted=FAR, cpus=2.0)
    tuner.until(State.HOLD)
    tuner.run(60)
    assert tuner.memory.incumbent == FAR
    tuner.wanted = INITIAL
    move(tuner)
    tuner.run(200)
    assert {(each.cpus, each.best) for each in tuner.memory.known.entries} == {(2.0, FAR), (1.0, INITIAL)}
    tuner.wanted = FAR
    began = len(tuner.decisions)
    move(tuner, 2.0)
    tuner.run(3)
    assert FAR in {each.pool_tuple for each in tuner.decisions[began:]}
    assert any("this workload was here before" in each.reason for each in tuner.decisions[began:])


def test_restarted_server_with_other_processors_does_not_get_what_was_verified_before(drive: MakeDrive) -> None:
    tuner = drive(rising, ratios=alike, wanted=FAR, cpus=2.0)
    tuner.until(State.HOLD)
    tuner.run(60)
    tuner.turn(in_force=None, reading=None, proposal=None)
    tuner.in_force, tuner.cpus, tuner.wanted = INITIAL, 1.0, INITIAL
    tuner.decision = tuner.decision.model_copy(update={"pool_tuple": None})
    decision = tuner.turn(restarted=True)
    assert decision.reason.startswith(f"{SAID}; the server was restarted")
    tuner.run(10)
    assert not any("before" in each.reason for each in tuner.decisions[-10:])


@pytest.mark.parametrize(("throttled", "tried"), [(0.0, True), (0.05, True), (0.1, False), (1.0, False)])
def test_no_more_threads_are_tried_while_a_quota_is_used_up(drive: MakeDrive, throttled: float, *, tried: bool) -> None:
    tuner = drive(rising, wanted=FAR, cpus=0.4, throttled=throttled)
    tuner.run(200)
    assert (State.TRIAL in tuner.states()) is tried
    said = "; the CPU quota of 0.4 processors is used up: raise it"
    assert all((said in each.reason) is not tried for each in tuner.decisions)


def test_fewer_threads_may_be_tried_while_a_quota_is_used_up(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=PoolTuple(1, 3, 500), cpus=0.4, throttled=1.0)
    tuner.run(200)
    assert State.TRIAL in tuner.states()
