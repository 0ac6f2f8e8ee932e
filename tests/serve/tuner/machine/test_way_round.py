"""A step that completes more at a higher latency is tried another way: with half the stall limit, or from there."""

from collections.abc import Callable

import pytest
from tests.serve.tuner.conftest import INITIAL, Drive, falling, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import State

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)


def stalling(pool_tuple: PoolTuple) -> float:
    """Latency that rises by half where there are more groups under the stock stall limit."""
    return 150.0 if pool_tuple.pool_size > INITIAL.pool_size and pool_tuple.timer_interval_ms > 250 else 100.0


def set_so_far(tuner: Drive) -> set[PoolTuple]:
    return {pool_tuple for pool_tuple, _ in tuner.seen}


def test_a_larger_step_that_is_only_slower_goes_on_with_half_the_stall_limit(drive: MakeDrive) -> None:
    tuner = drive(rising, latency=stalling, wanted=FAR, noise=0.01)
    tuner.run(400)
    assert PoolTuple(4, 3, 500) in set_so_far(tuner)
    assert tuner.memory.incumbent == PoolTuple(16, 3, 250)
    assert [str(each) for each in set_so_far(tuner) if each.timer_interval_ms < 250] == []


@pytest.mark.parametrize("latency", [None, stalling])
def test_one_that_completes_less_is_not_tried_another_way(
    drive: MakeDrive, latency: Callable[[PoolTuple], float] | None
) -> None:
    tuner = drive(falling, latency=latency, wanted=FAR, noise=0.01)
    tuner.run(400)
    assert set_so_far(tuner) == {INITIAL, PoolTuple(4, 3, 500)}
    assert any("was rolled back not long ago" in each.reason for each in tuner.decisions)


def humped(pool_tuple: PoolTuple) -> float:
    """Latency that rises by half with a few more groups, and with many or a much shorter stall limit does not."""
    return 150.0 if 2 < pool_tuple.pool_size < 8 and pool_tuple.timer_interval_ms > 125 else 100.0


def test_where_that_is_slower_too_the_stall_limit_alone_leads_round(drive: MakeDrive) -> None:
    tuner = drive(rising, latency=humped, wanted=FAR.with_core((16, 3, 10)), noise=0.01)
    tuner.run(400)
    assert {PoolTuple(4, 3, 250), PoolTuple(2, 3, 250), PoolTuple(4, 3, 125)} <= set_so_far(tuner)
    assert tuner.memory.incumbent.pool_size == 16
    assert sum(state is State.ROLL_BACK for state in tuner.states()) == 1


def slower(pool_tuple: PoolTuple) -> float:
    """Latency that rises by half with more groups, whatever the stall limit."""
    return 100.0 if pool_tuple.pool_size <= INITIAL.pool_size else 150.0


def test_where_that_leads_nowhere_it_ends(drive: MakeDrive) -> None:
    tuner = drive(rising, latency=slower, wanted=FAR, noise=0.01)
    tuner.run(400)
    roll_back = {PoolTuple(4, 3, 500), PoolTuple(4, 3, 250), PoolTuple(4, 3, 125)}
    assert set_so_far(tuner) == {INITIAL, PoolTuple(2, 3, 250), *roll_back}
    assert tuner.memory.incumbent == PoolTuple(2, 3, 250)


def test_no_more_than_three_ways_round_are_tried_under_one_workload(drive: MakeDrive) -> None:
    """However often what was refused may be tried again."""
    tuner = drive(rising, latency=slower, wanted=FAR, noise=0.01)
    tuner.run(6 * 720)
    assert tuner.memory.ways_round == 3
    assert {each.timer_interval_ms for each in set_so_far(tuner) if each.pool_size == INITIAL.pool_size} == {500, 250}


def test_a_way_round_that_waits_for_approval_is_not_used_up(drive: MakeDrive) -> None:
    tuner = drive(rising, latency=stalling, wanted=FAR, rules=rules(approval=True, retry_after_s=1e5), noise=0.01)
    tuner.run(10)
    tuner.turn(approved=str(PoolTuple(4, 3, 500)))
    tuner.run(720)
    assert tuner.memory.ways_round == 0
    assert tuner.memory.pending == PoolTuple(4, 3, 250)
    tuner.turn(approved=str(PoolTuple(4, 3, 250)))
    assert tuner.in_force != PoolTuple(4, 3, 250) == tuner.decision.pool_tuple
    assert tuner.memory.ways_round == 1
