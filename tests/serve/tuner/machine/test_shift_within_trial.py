"""Another workload that comes in the middle of a trial ends it: nothing is concluded, and nobody is to blame."""

from collections.abc import Callable, Sequence

import pytest
from tests.serve.tuner.conftest import INITIAL, WINDOW_S, Drive, flat, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.known.known_workloads import KnownWorkloads, WorkloadRatios
from poolpilot.serve.tuner.machine.decision import State

MakeDrive = Callable[..., Drive]
Observations = Callable[[PoolTuple, float], Sequence[float]]
NEAR, FAR = PoolTuple(4, 3, 500), PoolTuple(16, 3, 500)
FIRST, SECOND = (1.0, 2.0, 0.5, 0.1), (2.0, 1.0, 0.1, 0.5)
SLOW = rules(least_pairs=6, verify_windows=6)
"""Trials of at least twelve windows, and six more: each of them may be the first of another workload."""


def shifting_at(at_s: float) -> Observations:
    return lambda _where, now_s: SECOND if now_s >= at_s else FIRST


def turning_at(at_s: float, times: float = 2.0) -> Callable[[PoolTuple, float], float]:
    """Both tuples complete as much, and so many times as much under the second workload."""
    return lambda where, now_s: flat(where, now_s) * (times if now_s >= at_s else 1.0)


@pytest.fixture
def tried_at_s(drive: MakeDrive) -> float:
    """When the first window of the first trial begins."""
    tuner = drive(flat, ratios=shifting_at(1e9), wanted=NEAR, rules=SLOW, noise=0.01)
    tuner.until(State.TRIAL)
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
    assert (tuner.memory.incumbent, tuner.decision.pool_tuple, tuner.memory.trial) == (INITIAL, INITIAL, None)
    assert not tuner.memory.roll_backs_s
    assert not tuner.memory.refuses(NEAR)
    assert not any("is better than" in each.reason for each in tuner.decisions)


def test_without_looks_it_is_judged_by_what_is_completed(drive: MakeDrive, tried_at_s: float) -> None:
    tuner = drive(turning_at(tried_at_s), wanted=NEAR, rules=SLOW, noise=0.01)
    tuner.until(State.VERIFY)
    assert tuner.memory.workload == 0


@pytest.mark.parametrize("windows", range(1, 6))
@pytest.mark.parametrize("best", [PoolTuple(32, 3, 500), INITIAL])
def test_what_was_verified_for_the_workload_that_comes_is_tried_in_one_move(
    drive: MakeDrive, tried_at_s: float, windows: int, best: PoolTuple
) -> None:
    """Where that tuple is in force, nothing else is tried."""
    sight = WorkloadRatios(pool_tuple=INITIAL, ratios=SECOND)
    known, number = KnownWorkloads().filed(None, [sight], best, 0.01, 0)
    at_s = tried_at_s + windows * WINDOW_S
    tuner = drive(turning_at(at_s), ratios=shifting_at(at_s), known=known, wanted=NEAR, rules=SLOW, noise=0.01)
    while tuner.memory.workload == 0 and tuner.at_s < at_s + 60.0:
        tuner.turn()
    assert tuner.at_s - at_s <= 3 * WINDOW_S
    tuner.turn()
    if best == INITIAL:
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
    assert (tuner.memory.workload, tuner.memory.incumbent) == (0, NEAR)


def test_a_candidate_that_looks_different_from_the_start_is_no_other_workload(drive: MakeDrive) -> None:
    def by_tuple(where: PoolTuple, _now_s: float) -> Sequence[float]:
        return FIRST if where == INITIAL else SECOND

    tuner = drive(rising, ratios=by_tuple, wanted=NEAR, rules=SLOW, noise=0.01)
    tuner.run(60)
    assert (tuner.memory.workload, tuner.memory.incumbent) == (0, NEAR)


@pytest.mark.parametrize("share", [0.8, 1.0])
def test_a_try_begins_anew_where_its_first_pair_is_of_another_workload(
    drive: MakeDrive, tried_at_s: float, share: float
) -> None:
    """The candidate is judged by windows of the workload that has come: the last one before the trial has no say."""

    def doubled(where: PoolTuple, now_s: float) -> float:
        return (2000.0 if now_s >= tried_at_s else 1000.0) * (share if where == NEAR and now_s >= tried_at_s else 1.0)

    tuner = drive(doubled, ratios=shifting_at(tried_at_s), wanted=NEAR, rules=SLOW, noise=0.01)
    most = 0
    for _ in range(40):
        tuner.turn()
        most = max(most, 0 if tuner.memory.trial is None else len(tuner.memory.trial.candidates))
    assert sum("which begins anew" in each.reason for each in tuner.decisions) == 1
    assert not any("is better than" in each.reason for each in tuner.decisions)
    assert (tuner.memory.incumbent == NEAR) == (share == 1.0)
    assert most <= SLOW.pace.most_pairs


def test_a_leap_of_the_first_window_beside_it_is_not_held_against_a_candidate(
    drive: MakeDrive, tried_at_s: float
) -> None:
    at_s = tried_at_s + WINDOW_S
    tuner = drive(turning_at(at_s), ratios=shifting_at(at_s), wanted=NEAR, rules=SLOW, noise=0.01)
    tuner.turn()
    while tuner.memory.workload == 0 and tuner.at_s < at_s + 60.0:
        tuner.turn()
    assert sum(where == NEAR for where, _ in tuner.seen) == 1
    assert (tuner.memory.trial, tuner.memory.refuses(NEAR), tuner.memory.roll_backs_s) == (None, False, ())
    tuner.run(40)
    assert tuner.memory.incumbent == NEAR


@pytest.mark.parametrize("at", [0, 1, 2, 4])
def test_a_candidate_that_harms_the_workload_that_has_come_has_one_window(
    drive: MakeDrive, tried_at_s: float, at: int
) -> None:
    at_s = tried_at_s + at * WINDOW_S

    def harmed(where: PoolTuple, now_s: float) -> float:
        return 1000.0 if now_s < at_s or where == NEAR else 2000.0

    tuner = drive(harmed, ratios=shifting_at(at_s), wanted=NEAR, rules=SLOW, noise=0.01)
    while tuner.memory.trial is not None or tuner.at_s <= at_s:
        tuner.turn()
    assert sum(where == NEAR for where, _ in tuner.seen) == at // 2 + 1


@pytest.mark.parametrize("windows", [2, 4, 13])
def test_a_candidate_that_harms_and_looks_different_is_taken_back_at_once(
    drive: MakeDrive, tried_at_s: float, windows: int
) -> None:
    """Also while it is being verified: it is what it does that counts."""
    at_s = tried_at_s + windows * WINDOW_S

    def harms(where: PoolTuple, now_s: float) -> float:
        return 400.0 if where == NEAR and now_s >= at_s else 1000.0

    def observations(where: PoolTuple, now_s: float) -> Sequence[float]:
        return SECOND if where == NEAR and now_s >= at_s else FIRST

    tuner = drive(harms, ratios=observations, wanted=NEAR, rules=SLOW, noise=0.01)
    tuner.until(State.ROLL_BACK)
    assert tuner.at_s == at_s + WINDOW_S
    assert tuner.memory.refuses(NEAR)
    assert len(tuner.memory.roll_backs_s) == 1


@pytest.mark.parametrize("apart", [1.0, 4.0])
@pytest.mark.parametrize("which", [INITIAL, NEAR])
def test_a_tuple_that_alone_looks_different_makes_no_try_longer(
    drive: MakeDrive, tried_at_s: float, apart: float, which: PoolTuple
) -> None:
    """As a pool that tips over under one of the two."""
    far = tuple(each + apart for each in FIRST)

    def tipped(where: PoolTuple, now_s: float) -> Sequence[float]:
        return far if where == which and now_s >= tried_at_s + 7 * WINDOW_S else FIRST

    tuner = drive(
        lambda where, _: 965.0 if where == NEAR else 1000.0, ratios=tipped, wanted=NEAR, rules=SLOW, noise=0.02
    )
    tuner.until(State.TRIAL)
    pairs = 0
    while tuner.memory.trial is not None:
        pairs = len(tuner.memory.trial.candidates)
        tuner.turn()
    assert pairs <= SLOW.pace.most_pairs
    assert tuner.memory.incumbent == INITIAL


@pytest.mark.parametrize("budget", [2, 60])
def test_an_open_circuit_stays_open_where_a_shift_ends_the_try_of_what_was_found_at_first(
    drive: MakeDrive, budget: int
) -> None:
    """Nothing else is tried in it, known or not, and none of the pause is lost for want of leave."""
    observations: dict[str, Sequence[float]] = {"now": FIRST}
    rate: dict[str, Callable[[PoolTuple, float], float]] = {"now": rising}
    settings = rules(least_pairs=6, verify_windows=6, trials_per_hour=budget)
    tuner = drive(
        lambda where, now_s: rate["now"](where, now_s),
        ratios=lambda _where, _now_s: observations["now"],
        wanted=NEAR,
        rules=settings,
        noise=0.01,
    )
    while tuner.memory.incumbent != NEAR:
        tuner.turn()
    tuner.run(20)
    rate["now"] = flat
    known, _ = KnownWorkloads().filed(None, [WorkloadRatios(pool_tuple=NEAR, ratios=SECOND)], FAR, 0.01, 0)
    ends_s = tuner.at_s + 1800.0
    tuner.memory = tuner.memory.but(
        state=State.OPEN_CIRCUIT,
        paused=State.OPEN_CIRCUIT,
        wait_until_s=ends_s,
        known=known,
        check_initial=True,
        present=None,
        baseline=(),
        watched=(),
        trials_s=(),
    )
    tuner.until(State.TRIAL)
    assert tuner.memory.backward
    tuner.run(4)
    observations["now"] = SECOND
    while tuner.memory.trial is not None:
        tuner.turn()
    while tuner.at_s < ends_s - WINDOW_S:
        tuner.turn()
        assert tuner.memory.wait_until_s == ends_s
        assert tuner.memory.trial is None or tuner.memory.backward


def test_the_pause_after_a_try_knows_nothing_of_one_that_a_shift_has_ended(drive: MakeDrive, tried_at_s: float) -> None:
    at_s = tried_at_s + 16 * WINDOW_S

    def harmful(where: PoolTuple, now_s: float) -> float:
        return 500.0 if where == NEAR and now_s >= at_s + 4 * WINDOW_S else 1000.0

    tuner = drive(harmful, ratios=shifting_at(at_s), wanted=NEAR, rules=SLOW, noise=0.01)
    while tuner.memory.workload == 0:
        tuner.turn()
        assert tuner.at_s < at_s + 60.0
    tuner.until(State.ROLL_BACK)
    assert tuner.memory.exposed == pytest.approx(1.0 / 12.0)


def test_what_a_workload_looked_like_on_the_way_is_kept_where_a_try_begins_anew(drive: MakeDrive) -> None:
    """As a rule it is the same workload whose pool has changed, and is to be known again by all that was seen of it."""
    left = {"tried": False}

    def lingering(where: PoolTuple, _now_s: float) -> Sequence[float]:
        left["tried"] = left["tried"] or where == NEAR
        return SECOND if left["tried"] else FIRST

    tuner = drive(rising, ratios=lingering, wanted=NEAR, noise=0.01)
    while tuner.memory.incumbent != NEAR:
        tuner.turn()
        assert tuner.at_s < 300.0
    assert any("which begins anew" in each.reason for each in tuner.decisions)
    known = tuner.memory.known.numbered(tuner.memory.present)
    assert known is not None
    assert {each.pool_tuple for each in known.sights} == {INITIAL, NEAR}


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
    assert (tuner.memory.workload, tuner.memory.incumbent) == (0, NEAR)


@pytest.mark.parametrize("windows", [3, 4, 14])
def test_what_a_try_has_cost_is_booked_once(drive: MakeDrive, tried_at_s: float, windows: int) -> None:
    """Also the windows of the workload that came, of which the candidate completes a little less."""
    at_s = tried_at_s + windows * WINDOW_S

    def a_little_less(where: PoolTuple, _now_s: float) -> float:
        return 1000.0 if where == INITIAL else 990.0

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
    assert tuner.memory.incumbent == FAR
