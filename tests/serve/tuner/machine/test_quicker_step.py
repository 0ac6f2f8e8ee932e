"""A step that completes more at a higher latency is tried once more with half the stall limit, and no other is."""

from collections.abc import Callable

import pytest
from tests.serve.tuner.conftest import HOME, Drive, falling, rising

from poolpilot.featurizer.pool_tuple import PoolTuple

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)


def stalling(pool_tuple: PoolTuple) -> float:
    """Latency that rises by half where there are more groups under the stock stall limit."""
    return 150.0 if pool_tuple.pool_size > HOME.pool_size and pool_tuple.timer_interval_ms > 250 else 100.0


def set_so_far(tuner: Drive) -> set[PoolTuple]:
    return {pool_tuple for pool_tuple, _ in tuner.seen}


def test_a_larger_step_that_is_only_slower_goes_on_with_half_the_stall_limit(drive: MakeDrive) -> None:
    tuner = drive(rising, latency=stalling, wanted=FAR, noise=0.01)
    tuner.run(400)
    assert PoolTuple(4, 3, 500) in set_so_far(tuner)
    assert tuner.memory.verified == PoolTuple(16, 3, 250)
    assert [str(each) for each in set_so_far(tuner) if each.timer_interval_ms < 250] == []


@pytest.mark.parametrize("latency", [None, stalling])
def test_one_that_completes_less_is_not_tried_another_way(
    drive: MakeDrive, latency: Callable[[PoolTuple], float] | None
) -> None:
    tuner = drive(falling, latency=latency, wanted=FAR, noise=0.01)
    tuner.run(400)
    assert set_so_far(tuner) == {HOME, PoolTuple(4, 3, 500)}
    assert any("was taken back not long ago" in each.reason for each in tuner.decisions)


def test_where_that_is_slower_too_it_ends(drive: MakeDrive) -> None:
    tuner = drive(
        rising, latency=lambda each: 100.0 if each.pool_size <= HOME.pool_size else 150.0, wanted=FAR, noise=0.01
    )
    tuner.run(400)
    assert set_so_far(tuner) == {HOME, PoolTuple(4, 3, 500), PoolTuple(4, 3, 250)}
    assert tuner.memory.verified == HOME
