"""Another workload that comes in the middle of a try ends it: nothing is concluded, and nobody is to blame."""

from collections.abc import Callable, Sequence

import pytest
from tests.serve.tuner.conftest import HOME, WINDOW_S, Drive, falling, flat, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.known.known_workloads import KnownWorkloads, WorkloadLook
from poolpilot.serve.tuner.machine.decision import State

MakeDrive = Callable[..., Drive]
Looks = Callable[[PoolTuple, float], Sequence[float]]
NEAR, FAR = PoolTuple(4, 3, 500), PoolTuple(16, 3, 500)
FIRST, SECOND = (1.0, 2.0, 0.5, 0.1), (2.0, 1.0, 0.1, 0.5)
SLOW = rules(least_pairs=6, verify_windows=6)
"""Tries of at least twelve windows, and six more: each of them may be the first of another workload."""


def shifting_at(at_s: float) -> Looks:
    return lambda _where, now_s: SECOND if now_s >= at_s else FIRST


def turning_at(at_s: float, times: float = 2.0) -> Callable[[PoolTuple, float], float]:
    """Both tuples complete as much, and so many times as much under the second workload."""
    return lambda where, now_s: flat(where, now_s) * (times if now_s >= at_s else 1.0)


@pytest.fixture
def tried_at_s(drive: MakeDrive) -> float:
    """When the first window of the first try begins."""
    tuner = drive(flat, ratios=shifting_at(1e9), wanted=NEAR, rules=SLOW, noise=0.01)
    tuner.until(State.TRY)
    return tuner.at_s


@pytest.mark.parametrize("times", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("windows", range(2, 18))
def test_a_shift_ends_the_try_whenever_it_comes(
    drive: MakeDrive, tried_at_s: float, windows: int, times: float
) -> None:
    at_s = tried_at_s + windows * WINDOW_S
    tuner = drive(turning_at(at_s, times), ratios=shifting_at(at_s), wanted=NEAR, rules=SLOW, noise=0.01)
    while tuner.memory.workload == 0 and tuner.at_s < at_s + 60.0:
        tuner.turn()
    assert tuner.memory.workload == 1
    assert tuner.at_s - at_s <= 3 * WINDOW_S
    assert (tuner.memory.verified, tuner.decision.pool_tuple, tuner.memory.trial) == (HOME, HOME, None)
    assert not tuner.memory.roll_backs_s
    assert not tuner.memory.refuses(NEAR)
    assert not any("is better than" in each.reason for each in tuner.decisions)


def test_without_looks_it_is_judged_by_what_is_completed(drive: MakeDrive, tried_at_s: float) -> None:
    tuner = drive(turning_at(tried_at_s), wanted=NEAR, rules=SLOW, noise=0.01)
    tuner.until(State.VERIFY)
    assert tuner.memory.workload == 0


@pytest.mark.parametrize("windows", range(5))
@pytest.mark.parametrize("best", [PoolTuple(32, 3, 500), HOME])
def test_what_was_verified_for_the_workload_that_comes_is_tried_in_one_move(
    drive: MakeDrive, tried_at_s: float, windows: int, best: PoolTuple
) -> None:
    """Also where it comes with the first pair; where that tuple is in force, nothing else is tried."""
    sight = WorkloadLook(pool_tuple=HOME, ratios=SECOND)
    known, number = KnownWorkloads().filed(None, [sight], best, 0.01, 0)
    at_s = tried_at_s + windows * WINDOW_S
    tuner = drive(turning_at(at_s), ratios=shifting_at(at_s), known=known, wanted=NEAR, rules=SLOW, noise=0.01)
    while tuner.memory.workload == 0 and tuner.at_s < at_s + 60.0:
        tuner.turn()
    assert tuner.at_s - at_s <= 3 * WINDOW_S
    tuner.turn()
    if best == HOME:
        assert (tuner.memory.trial, tuner.memory.present) == (None, number)
    else:
        assert tuner.memory.trial is not None
        assert (tuner.memory.trial.candidate, tuner.memory.recall) == (best, number)


def test_a_window_that_looks_different_alone_ends_nothing(drive: MakeDrive, tried_at_s: float) -> None:
    def odd(_where: PoolTuple, now_s: float) -> Sequence[float]:
        return SECOND if (now_s - tried_at_s) / WINDOW_S in (1, 6, 11, 14) else FIRST

    tuner = drive(rising, ratios=odd, wanted=NEAR, rules=SLOW, noise=0.01)
    tuner.run(60)
    assert any("requests look different" in each.reason for each in tuner.decisions)
    assert (tuner.memory.workload, tuner.memory.verified) == (0, NEAR)


def test_a_candidate_that_looks_different_from_the_start_is_no_other_workload(drive: MakeDrive) -> None:
    def by_tuple(where: PoolTuple, _now_s: float) -> Sequence[float]:
        return FIRST if where == HOME else SECOND

    tuner = drive(rising, ratios=by_tuple, wanted=NEAR, rules=SLOW, noise=0.01)
    tuner.run(60)
    assert (tuner.memory.workload, tuner.memory.verified) == (0, NEAR)


def test_harm_is_taken_back_at_once_whatever_requests_look_like(drive: MakeDrive, tried_at_s: float) -> None:
    def scattered(_where: PoolTuple, now_s: float) -> Sequence[float]:
        return SECOND if now_s >= tried_at_s else FIRST

    tuner = drive(falling, ratios=scattered, wanted=NEAR, rules=SLOW, noise=0.01)
    taken_back = tuner.until(State.ROLL_BACK)
    assert tuner.at_s == tried_at_s + WINDOW_S
    assert "% less" in taken_back.reason
    assert tuner.memory.refuses(NEAR)


@pytest.mark.parametrize("windows", [0, 1])
@pytest.mark.parametrize("share", [0.8, 1.0])
def test_a_try_begins_anew_where_its_first_pair_is_of_another_workload(
    drive: MakeDrive, tried_at_s: float, windows: int, share: float
) -> None:
    """The candidate is judged by windows of the workload that has come: the last one before the try has no say."""
    at_s = tried_at_s + windows * WINDOW_S

    def doubled(where: PoolTuple, now_s: float) -> float:
        return (2000.0 if now_s >= at_s else 1000.0) * (1.0 if where == HOME or now_s < at_s else share)

    tuner = drive(doubled, ratios=shifting_at(at_s), wanted=NEAR, rules=SLOW, noise=0.01)
    tuner.run(40)
    assert any("which begins anew" in each.reason for each in tuner.decisions)
    assert not any("is better than" in each.reason for each in tuner.decisions)
    assert (tuner.memory.verified == NEAR) == (share == 1.0)


@pytest.mark.parametrize("stay", [(FIRST, SECOND), (SECOND, FIRST)])
def test_a_state_that_a_try_has_left_is_no_other_workload(drive: MakeDrive, stay: Sequence[Sequence[float]]) -> None:
    """The threads of a larger pool stay for a minute, or latches are freed: only what was before looks different."""
    fresh, left = stay
    seen = {NEAR: False}

    def lingering(where: PoolTuple, _now_s: float) -> Sequence[float]:
        seen[NEAR] = seen[NEAR] or where == NEAR
        return left if seen[NEAR] else fresh

    tuner = drive(rising, ratios=lingering, wanted=NEAR, noise=0.01)
    tuner.run(40)
    assert (tuner.memory.workload, tuner.memory.verified) == (0, NEAR)


@pytest.mark.parametrize("windows", [3, 4, 14])
def test_what_a_try_has_cost_is_booked_once(drive: MakeDrive, tried_at_s: float, windows: int) -> None:
    """Also the windows of the workload that came, of which the candidate completes a little less."""
    at_s = tried_at_s + windows * WINDOW_S

    def a_little_less(where: PoolTuple, _now_s: float) -> float:
        return 1000.0 if where == HOME else 990.0

    tuner = drive(a_little_less, ratios=shifting_at(at_s), wanted=NEAR, rules=SLOW)
    while tuner.memory.workload == 0 and tuner.at_s < at_s + 60.0:
        tuner.turn()
    of_candidate = sum(where == NEAR for where, _ in tuner.seen)
    assert tuner.memory.lost_requests == pytest.approx(10.0 * WINDOW_S * of_candidate)


@pytest.mark.parametrize("seed", range(6))
def test_looks_that_scatter_end_few_tries(drive: MakeDrive, seed: int) -> None:
    tuner = drive(rising, ratios=lambda _, __: FIRST, ratio_noise=0.25, wanted=FAR, rules=SLOW, noise=0.02, seed=seed)
    tuner.run(200)
    assert tuner.memory.workload <= 2
    assert tuner.memory.verified == FAR
