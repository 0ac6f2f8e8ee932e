"""Trials that promise little: when what is learned by them pays, and how few of them a flat workload gets."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.serve.tuner.conftest import INITIAL, WINDOW_S, Drive, falling, flat, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import State

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)
GOALS = (FAR, PoolTuple(2, 3, 50), PoolTuple(2, 24, 500), PoolTuple(1, 3, 500), PoolTuple(8, 3, 50))
MOST_LOST_S = WINDOW_S * (1.0 + 8 * 0.05)
"""What one step can lose, in seconds of the workload: six windows of a trial, three that it must stand."""


def cliff(pool_tuple: PoolTuple, _at_s: float) -> float:
    """Half as much again from eight groups on, and nothing on the way there."""
    return 1500.0 if pool_tuple.pool_size >= 8 else 1000.0


def trials_of(tuner: Drive) -> list[float]:
    """When a trial began."""
    return [
        observation.at_s
        for observation, what in zip(tuner.observations, tuner.decisions, strict=True)
        if what.most_lost > 0.0
    ]


def test_what_promises_nothing_itself_is_found_by_trying_where_that_pays(drive: MakeDrive) -> None:
    tuner = drive(cliff, wanted=FAR, gain=0.0, improvement=0.2, noise=0.02)
    tuner.run(400)
    assert tuner.memory.incumbent.pool_size >= 8
    assert any("to learn from: that is expected to take 20.0 % off" in each.reason for each in tuner.decisions)
    timid = drive(cliff, wanted=FAR, gain=0.0, improvement=0.2, noise=0.02, rules=rules(explorations=0))
    timid.run(400)
    assert timid.memory.incumbent == INITIAL


@pytest.mark.parametrize(("improvement", "steps"), [(0.02, 1), (0.02, 3), (0.2, 3)])
def test_a_try_to_learn_from_waits_until_what_it_brings_pays_for_it(
    drive: MakeDrive, improvement: float, steps: int
) -> None:
    """Over as long as the workload has lasted, against the most that the steps there can lose."""
    wanted = PoolTuple(INITIAL.pool_size * 2**steps, 3, 500)
    tuner = drive(flat, wanted=wanted, gain=0.01, improvement=improvement, rules=rules(ask_every_s=0.0))
    tuner.until(State.TRIAL, most=2000)
    pays_s = steps * MOST_LOST_S / improvement
    assert pays_s <= trials_of(tuner)[0] <= max(pays_s, 30.0) + 2 * WINDOW_S
    assert any("does not pay for it yet" in each.reason for each in tuner.decisions) == (pays_s > 30.0)


def test_each_way_that_fails_doubles_what_the_next_must_be_worth(drive: MakeDrive) -> None:
    tuner = drive(falling, gain=0.0, improvement=0.05, rules=rules(ask_every_s=0.0, breaker_roll_backs=100))
    for goal in [(16, 3, 500), (1, 3, 500), (16, 24, 500), (16, 3, 50)]:
        tuner.wanted = PoolTuple(*goal)
        tuner.until(State.ROLL_BACK, most=5000)
    begun = trials_of(tuner)
    assert tuner.memory.explored == 4
    assert begun[0] >= 3 * MOST_LOST_S / 0.05
    assert begun[-1] >= 2**3 * MOST_LOST_S / 0.05


def test_a_flat_workload_is_left_alone_after_a_few_ways_that_failed(drive: MakeDrive) -> None:
    """Six hours under a predictor that has another idea every five minutes."""
    tuner = drive(flat, gain=0.0, improvement=0.02, noise=0.02)
    for number in range(6 * 720):
        tuner.wanted = GOALS[number // 60 % len(GOALS)]
        tuner.turn()
    assert 4 <= len(trials_of(tuner)) <= 20
    assert trials_of(tuner)[-1] < 4 * 3600.0
    assert any("trials to learn from have failed in a row" in each.reason for each in tuner.decisions)


def test_what_does_well_lets_learning_begin_anew(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR, gain=0.0, improvement=0.2)
    tuner.until(State.ROLL_BACK)
    assert tuner.memory.failed_explorations == 1
    tuner.throughput, tuner.wanted, tuner.gain = rising, PoolTuple(2, 3, 50), 0.2
    tuner.until(State.VERIFY)
    tuner.run(5)
    assert tuner.memory.incumbent.timer_interval_ms < 500
    assert tuner.memory.failed_explorations == 0


def test_another_workload_gets_one_way_at_the_price_of_the_last(drive: MakeDrive) -> None:
    def quieter(pool_tuple: PoolTuple, at_s: float) -> float:
        return falling(pool_tuple, at_s) * (1.0 if at_s < 1000.0 else 0.4)

    settings = rules(ask_every_s=0.0, explorations=1, retry_after_s=0.0)
    tuner = drive(quieter, wanted=FAR, gain=0.0, improvement=0.2, rules=settings)
    tuner.run(190)
    assert len(trials_of(tuner)) == 1
    tuner.run(200)
    assert len(trials_of(tuner)) == 2
    assert trials_of(tuner)[1] >= 1000.0 + 3 * MOST_LOST_S / 0.2


def test_an_estimate_of_nothing_to_learn_changes_nothing(drive: MakeDrive) -> None:
    tuner = drive(cliff, wanted=FAR, gain=0.01, improvement=0.0)
    tuner.run(1000)
    assert trials_of(tuner) == []
    assert np.all([each.incumbent == INITIAL for each in tuner.decisions])
