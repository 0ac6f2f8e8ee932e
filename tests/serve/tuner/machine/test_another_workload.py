"""Under another workload nothing that was found out before holds: neither what is in force nor what was refused."""

from collections.abc import Callable, Sequence

import pytest
from tests.serve.tuner.conftest import INITIAL, Drive, falling, flat, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import State

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)
FIRST, SECOND = (1.0, 2.0, 0.5, 0.1), (2.0, 1.0, 0.1, 0.5)
BREAKING = rules(cool_down_s=0.0, ask_every_s=0.0, retry_after_s=0.0, breaker_roll_backs=2, circuit_open_s=3600.0)


def turning(at_s: float, before: Callable[..., float], after: Callable[..., float]) -> Callable[..., float]:
    return lambda where, now_s: before(where, now_s) if now_s < at_s else after(where, now_s)


def looking(at_s: float) -> Callable[[PoolTuple, float], Sequence[float]]:
    return lambda _where, now_s: FIRST if now_s < at_s else SECOND


def test_what_was_found_at_first_comes_back_only_where_that_gains(drive: MakeDrive) -> None:
    def flat_for_few(where: PoolTuple, _at_s: float) -> float:
        return 100.0 if where.pool_size <= 4 else 1000.0

    near = PoolTuple(4, 3, 500)
    tuner = drive(turning(1000.0, rising, flat_for_few), ratios=looking(1000.0), wanted=near, noise=0.01)
    while tuner.at_s < 1000.0:
        tuner.turn()
    assert tuner.memory.incumbent == near
    tuner.wanted = FAR
    tuner.run(40)
    assert any("which was in force at first" in each.reason for each in tuner.decisions)
    assert INITIAL not in {each.incumbent for each in tuner.decisions[-40:]}
    tuner.run(100)
    assert tuner.memory.incumbent.pool_size >= 8


def test_an_open_circuit_is_half_open_under_another_workload(drive: MakeDrive) -> None:
    tuner = drive(turning(600.0, falling, rising), ratios=looking(600.0), wanted=FAR, rules=BREAKING, noise=0.01)
    tuner.until(State.OPEN_CIRCUIT)
    assert tuner.at_s < 600.0
    tuner.run(180)
    assert tuner.at_s < 3600.0
    assert tuner.memory.incumbent == FAR
    assert tuner.memory.half_open_until_s is None


def test_one_roll_back_opens_a_half_open_circuit_for_longer(drive: MakeDrive) -> None:
    tuner = drive(falling, ratios=looking(600.0), wanted=FAR, rules=BREAKING, noise=0.01)
    tuner.until(State.OPEN_CIRCUIT)
    tried = len(tuner.memory.trials_s)
    while tuner.at_s < 600.0:
        tuner.turn()
    assert tuner.memory.state is State.OPEN_CIRCUIT
    tuner.until(State.WATCH)
    assert tuner.memory.half_open_until_s == pytest.approx(70.0 + 3600.0, abs=30.0)
    opened = tuner.until(State.OPEN_CIRCUIT)
    assert len(tuner.memory.trials_s) == tried + 1
    assert opened.reason == "the first trial since the circuit was open was rolled back: no trial for 7200 s"


def test_a_try_that_a_lost_connection_ends_does_not_open_a_half_open_circuit(drive: MakeDrive) -> None:
    tuner = drive(falling, ratios=looking(600.0), wanted=FAR, rules=BREAKING, noise=0.01)
    tuner.until(State.OPEN_CIRCUIT)
    tuner.until(State.TRIAL)
    assert tuner.memory.half_open
    tuner.turn(in_force=None, reading=None)
    openings = tuner.memory.openings
    tuner.turn()  # the tuple of the trial is still in force
    assert tuner.decision.state is State.ROLL_BACK
    tuner.until(State.COOL_DOWN)
    assert tuner.in_force == INITIAL
    assert (tuner.memory.half_open, tuner.memory.openings) == (True, openings)


def test_a_try_that_is_verified_gives_the_next_open_circuit_its_chance(drive: MakeDrive) -> None:
    """Also one that is no more than no worse."""
    tuner = drive(turning(600.0, falling, flat), ratios=looking(600.0), wanted=FAR, rules=BREAKING, noise=0.01)
    tuner.until(State.OPEN_CIRCUIT)
    while tuner.memory.incumbent == INITIAL:
        tuner.turn()
    assert not tuner.memory.half_open
    assert not tuner.memory.opened_again


@pytest.mark.parametrize("ratios", [None, looking(1e9)])
def test_it_stays_open_where_the_same_requests_only_become_fewer(
    drive: MakeDrive, ratios: Callable[[PoolTuple, float], Sequence[float]] | None
) -> None:
    def fewer(where: PoolTuple, at_s: float) -> float:
        return 0.3 * falling(where, at_s)

    tuner = drive(turning(600.0, falling, fewer), ratios=ratios, wanted=FAR, rules=BREAKING, noise=0.01)
    tuner.until(State.OPEN_CIRCUIT)
    tuner.run(300)
    assert tuner.memory.workload > 0
    assert tuner.memory.state is State.OPEN_CIRCUIT


def test_one_odd_window_closes_nothing(drive: MakeDrive) -> None:
    def odd(_where: PoolTuple, at_s: float) -> Sequence[float]:
        return SECOND if 600.0 <= at_s < 605.0 else FIRST

    tuner = drive(falling, ratios=odd, wanted=FAR, rules=BREAKING, noise=0.01)
    tuner.until(State.OPEN_CIRCUIT)
    tuner.run(300)
    assert (tuner.memory.workload, tuner.memory.state) == (0, State.OPEN_CIRCUIT)


def by_time(second: Callable[[float], bool]) -> Callable[[PoolTuple, float], Sequence[float]]:
    return lambda _where, at_s: SECOND if second(at_s) else FIRST


@pytest.mark.parametrize(
    "second",
    [
        lambda at_s: at_s % 300.0 >= 275.0,
        lambda at_s: at_s % 240.0 >= 180.0,
        lambda at_s: at_s % 1200.0 >= 600.0,
        lambda at_s: at_s % 240.0 >= 120.0,
    ],
)
def test_looks_that_take_turns_do_not_keep_the_circuit_closed(
    drive: MakeDrive, second: Callable[[float], bool]
) -> None:
    """Another workload gets one trial while it is open, and no further one before it was closed for long."""
    tuner = drive(falling, ratios=by_time(second), wanted=FAR, noise=0.01)
    tuner.run(4 * 720)
    assert tuner.states().count(State.ROLL_BACK) <= 13


@pytest.mark.parametrize("noise", [0.4, 0.7])
def test_ratios_that_only_scatter_acquit_nobody(drive: MakeDrive, noise: float) -> None:
    counts = []
    for ratio_noise in (0.0, noise):
        tuner = drive(falling, ratios=looking(1e9), ratio_noise=ratio_noise, wanted=FAR, rules=BREAKING, noise=0.01)
        tuner.run(4 * 720)
        counts.append(tuner.states().count(State.ROLL_BACK))
    assert counts[1] <= counts[0] + 1


def test_a_workload_that_comes_in_the_middle_of_a_try_is_not_acquitted_of_it(drive: MakeDrive) -> None:
    settings = rules(cool_down_s=0.0, breaker_roll_backs=1, circuit_open_s=3600.0)
    tuner = drive(falling, ratios=looking(35.0), wanted=FAR, rules=settings, noise=0.01)
    tuner.run(600)
    assert tuner.states().count(State.ROLL_BACK) == 1


def test_what_the_server_was_lost_under_stays_refused_whatever_runs(drive: MakeDrive) -> None:
    tuner = drive(flat, ratios=by_time(lambda at_s: at_s % 600.0 >= 300.0), wanted=FAR, noise=0.01)
    lost = 0
    while tuner.at_s < 3000.0:
        gone = tuner.decision.pool_tuple not in (None, INITIAL)
        lost += gone
        tuner.turn(**({"in_force": None, "reading": None} if gone else {}))
        if gone:
            tuner.in_force = INITIAL
            tuner.turn(restarted=True, in_force=INITIAL)
    assert lost == 1


@pytest.mark.parametrize("every", [4, 5, 6])
def test_jobs_that_run_now_and_then_do_not_keep_it_from_trying(drive: MakeDrive, every: int) -> None:
    tuner = drive(rising, ratios=by_time(lambda at_s: int(at_s / 5) % every == every - 1), wanted=FAR, noise=0.01)
    tuner.run(300)
    assert tuner.memory.incumbent == FAR


def test_windows_that_fall_and_look_different_by_turns_are_of_another_workload(drive: MakeDrive) -> None:
    def by_turns(where: PoolTuple, at_s: float) -> float:
        return flat(where, at_s) * (0.6 if at_s >= 400.0 and int(at_s / 5) % 2 else 1.0)

    tuner = drive(by_turns, ratios=looking(400.0), wanted=INITIAL, noise=0.01)
    tuner.run(90)
    assert tuner.memory.workload > 0


def test_a_half_open_circuit_closes_with_the_time_that_it_would_have_been_open(drive: MakeDrive) -> None:
    tuner = drive(falling, ratios=looking(600.0), wanted=FAR, rules=BREAKING, noise=0.01)
    tuner.until(State.OPEN_CIRCUIT)
    tuner.wanted = INITIAL
    tuner.until(State.WATCH, most=200)
    while tuner.at_s < 3800.0:
        assert tuner.turn().state is not State.OPEN_CIRCUIT
    assert (tuner.memory.half_open_until_s, tuner.memory.opened_again) == (None, False)


def test_a_try_that_is_only_a_little_worse_opens_a_half_open_circuit_too(drive: MakeDrive) -> None:
    def mildly(where: PoolTuple, _at_s: float) -> float:
        return 1000.0 if where == INITIAL else 965.0

    tuner = drive(turning(600.0, falling, mildly), ratios=looking(600.0), wanted=FAR, rules=BREAKING, noise=0.005)
    tuner.until(State.OPEN_CIRCUIT)
    tuner.until(State.WATCH, most=200)
    tuner.run(300)
    assert tuner.memory.state is State.OPEN_CIRCUIT
    assert tuner.memory.roll_backs_s == ()
    assert sum("the first trial since" in each.reason for each in tuner.decisions) == 1


def test_what_was_refused_may_be_tried_under_requests_that_look_different(drive: MakeDrive) -> None:
    tuner = drive(
        turning(600.0, falling, rising), ratios=looking(600.0), wanted=FAR, rules=rules(cool_down_s=600.0), noise=0.01
    )
    tuner.until(State.COOL_DOWN)
    assert tuner.memory.refuses(PoolTuple(4, 3, 500))
    tuner.run(200)
    assert tuner.at_s < rules().guard.retry_after_s
    assert tuner.memory.incumbent == FAR
