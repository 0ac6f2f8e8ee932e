"""Every window of a tuple that was tried counts for what trials have cost, whatever ends them."""

from collections.abc import Callable

import pytest
from tests.serve.tuner.conftest import INITIAL, WINDOW_S, Drive, falling, flat, rising

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.serve.tuner.decision_log import LoggedDecision
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.tuning_account import TuningAccount

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)
WINDOW = 1000.0 * WINDOW_S
"""Requests of a window under the tuple before."""


def reported(tuner: Drive) -> float:
    """What `poolpilot why --report` adds up."""
    pairs = zip(tuner.observations, tuner.decisions, strict=True)
    return TuningAccount.of(LoggedDecision(observation, decision) for observation, decision in pairs).lost.requests


def nothing_under(*sizes: int, since_s: float = 0.0) -> Callable[[PoolTuple, float], float]:
    """Completes nothing under some sizes from some time on, and the same under every other."""
    return lambda tried, at_s: 0.0 if tried.pool_size in sizes and at_s >= since_s else 1000.0


def test_window_in_which_nothing_was_completed_is_lost_whole(drive: MakeDrive) -> None:
    tuner = drive(nothing_under(4), wanted=FAR)
    tuner.until(State.ROLL_BACK)
    assert tuner.memory.lost_requests == pytest.approx(WINDOW) == pytest.approx(reported(tuner))


def test_window_in_which_what_stood_stops_everything_is_lost_whole(drive: MakeDrive) -> None:
    tuner = drive(flat, wanted=FAR)
    tuner.until(State.VERIFY)
    tuner.throughput = nothing_under(4)
    tuner.until(State.ROLL_BACK)
    assert tuner.memory.lost_requests == pytest.approx(WINDOW) == pytest.approx(reported(tuner))


def test_windows_that_a_try_has_stood_count(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=PoolTuple(4, 3, 500))
    tuner.until(State.VERIFY)
    tuner.until(State.WATCH)
    tried = [rate for in_force, rate in tuner.seen if in_force != INITIAL]
    assert len(tried) == 1 + tuner.rules.pace.verify_windows
    gained = sum(rate - rising(INITIAL, 0.0) for rate in tried) * WINDOW_S
    assert tuner.memory.lost_requests == pytest.approx(-gained) == pytest.approx(reported(tuner))


@pytest.mark.parametrize(
    "ends",
    [
        {"hindrances": (Hindrance("a backup runs"),)},
        {"kill": True},
        {"in_force": INITIAL.with_core((5, 3, 500)), "reading": None},
        {"in_force": INITIAL, "restarted": True, "reading": None},
        {"in_force": None, "reading": None},
    ],
    ids=["hindered", "killed", "person", "restarted", "lost"],
)
def test_windows_of_a_try_that_is_broken_off_count(drive: MakeDrive, ends: dict[str, object]) -> None:
    tuner = drive(lambda tried, _at_s: 980.0 if tried.pool_size == 4 else 1000.0, wanted=FAR)
    tuner.until(State.TRIAL)
    tuner.run(2)
    assert tuner.memory.lost_requests == 0.0
    tuner.turn(**ends)
    windows = 1 if "reading" in ends else 2
    assert tuner.memory.trial is None
    assert tuner.memory.lost_requests == pytest.approx(windows * 20.0 * WINDOW_S) == pytest.approx(reported(tuner))


def test_try_whose_tuple_before_does_not_come_back_counts(drive: MakeDrive) -> None:
    tuner = drive(lambda tried, _at_s: 980.0 if tried.pool_size == 4 else 1000.0, wanted=FAR)
    tuner.until(State.TRIAL)
    tuner.turn()
    tuner.turn(in_force=tuner.in_force.with_core((4, 3, 500)), reading=None, refused="no")
    assert tuner.memory.state is State.ROLL_BACK
    assert tuner.memory.lost_requests == pytest.approx(20.0 * WINDOW_S)


@pytest.mark.parametrize("throughput", [falling, rising, flat])
def test_screen_and_report_tell_the_same(drive: MakeDrive, throughput: Callable[[PoolTuple, float], float]) -> None:
    tuner = drive(throughput, wanted=FAR, noise=0.02, seed=3)
    tuner.run(300)
    assert tuner.memory.trial is None
    assert tuner.memory.lost_requests == pytest.approx(reported(tuner), rel=1e-6, abs=1e-6)
