"""What tuning did cost and bring, added up from decisions, against what a formula knows."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.serve.tuner.conftest import INITIAL, WINDOW_S, Drive, Throughput, falling, flat, rising

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance
from poolpilot.serve.tuner.decision_log import LoggedDecision
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading
from poolpilot.serve.tuner.tuning_account import Tallied, TuningAccount

MakeDrive = Callable[..., Drive]
FAR = PoolTuple(16, 3, 500)


def lines(tuner: Drive) -> Iterator[LoggedDecision]:
    return (
        LoggedDecision(observation, decision)
        for observation, decision in zip(tuner.observations, tuner.decisions, strict=True)
    )


def truth(tuner: Drive, throughput: Throughput, first: int = 0) -> float:
    """Requests beyond what the initial tuple would have completed."""
    return sum(
        (rate - throughput(INITIAL, n * WINDOW_S)) * WINDOW_S for n, (_, rate) in enumerate(tuner.seen) if n >= first
    )


def test_what_is_gained_and_lost_without_noise_is_what_the_formula_says(drive: MakeDrive) -> None:
    tuner = drive(rising, wanted=FAR)
    tuner.run(200)
    account = TuningAccount.of(lines(tuner))
    assert (account.trials, account.kept, account.windows) == (3, 3, 200)
    assert account.lost.requests < 0.0
    # What a step's own windows bring is told by the trial, what further ones bring over the initial tuple by the gain.
    assert account.gained.requests - account.lost.requests == pytest.approx(truth(tuner, rising), rel=0.05)


def test_bad_proposals_cost_what_they_cost_and_no_more_than_stated(drive: MakeDrive) -> None:
    tuner = drive(falling, wanted=FAR)
    tuner.run(400)
    account = TuningAccount.of(lines(tuner))
    assert account.kept == 0
    assert account.gained == Tallied()
    assert account.lost.requests == pytest.approx(-truth(tuner, falling))
    assert 0.0 < account.lost.requests <= account.most_lost


def test_interval_holds_the_truth_nineteen_times_in_twenty(drive: MakeDrive) -> None:
    held = 0
    for seed in range(100):
        tuner = drive(falling, wanted=FAR, noise=0.04, seed=seed)
        tuner.run(60)
        low, high = TuningAccount.of(lines(tuner)).lost.interval
        held += low <= -truth(tuner, falling) <= high
    assert held >= 88


def test_nothing_is_claimed_under_another_workload(drive: MakeDrive) -> None:
    def halved(pool_tuple: PoolTuple, at_s: float) -> float:
        return rising(pool_tuple, at_s) * (1.0 if at_s < 1500.0 else 0.4)

    tuner = drive(halved, wanted=FAR)
    tuner.run(600)
    account = TuningAccount.of(lines(tuner))
    before = truth(tuner, halved) - truth(tuner, halved, first=300)
    assert account.gained.requests - account.lost.requests == pytest.approx(before, rel=0.2)
    assert account.judged < 310 < account.windows == 600


def test_untouched_server_has_cost_and_brought_nothing(drive: MakeDrive) -> None:
    tuner = drive(flat, wanted=INITIAL)
    tuner.run(100)
    account = TuningAccount.of(lines(tuner))
    assert (account.trials, account.lost, account.gained, account.judged) == (0, Tallied(), Tallied(), 0)
    assert account.windows == 100


def test_errors_add_up_as_independent_ones() -> None:
    tallied = Tallied().plus(10.0, 3.0).plus(-4.0, 4.0)
    assert tallied.requests == 6.0
    assert tallied.interval == pytest.approx((6.0 - 1.96 * 5.0, 6.0 + 1.96 * 5.0))
    assert math.isclose(float(np.sqrt(tallied.variance)), 5.0)


def test_goodput_by_time_brings_no_requests(drive: MakeDrive) -> None:
    """Where requests spend far less time than more of them are completed, only these are claimed."""
    tuner = drive(rising, wanted=FAR)
    tuner.run(200)
    plain = TuningAccount.of(lines(tuner))

    def timed(line: LoggedDecision) -> LoggedDecision:
        assert line.observation.reading is not None
        reading = line.observation.reading.model_copy(
            update={"by_time": True, "goodput_per_s": line.observation.reading.goodput_per_s**2}
        )
        return LoggedDecision(line.observation.model_copy(update={"reading": reading}), line.decision)

    account = TuningAccount.of(map(timed, lines(tuner)))
    assert (account.gained, account.lost, account.judged) == (plain.gained, plain.lost, plain.judged)
    assert account.gained.requests > 0.0


def test_gains_of_one_tuner_are_not_those_of_the_next(drive: MakeDrive) -> None:
    first = drive(rising, wanted=PoolTuple(4, 3, 500))
    first.run(100)
    second = drive(rising, wanted=first.in_force, in_force=first.in_force)
    second.run(100)
    both = TuningAccount.of([*lines(first), *lines(second)])
    assert both.gained == TuningAccount.of(lines(first)).gained
    assert both.windows == 200


def test_a_try_that_a_tuner_died_in_takes_no_window_of_the_next(drive: MakeDrive) -> None:
    first = drive(rising, wanted=PoolTuple(4, 3, 500))
    first.until(State.TRIAL)
    second = drive(rising, wanted=INITIAL)
    second.run(50)
    both = TuningAccount.of([*lines(first), *lines(second)])
    assert (both.kept, both.gained, both.lost) == (0, Tallied(), Tallied())


@pytest.mark.parametrize("stopped", [{"hindrances": (Hindrance("a backup runs"),)}, {}])
def test_windows_that_tell_nothing_are_no_noise(drive: MakeDrive, stopped: dict[str, Any]) -> None:
    """Before, a window in which nobody sent anything made the interval of what trials cost absurd."""
    tuner = drive(falling, wanted=FAR, noise=0.02)

    def empty(number: int) -> None:
        for _ in range(number):
            nothing = Reading(goodput_per_s=1e-9, throughput_per_s=0.0, seconds=WINDOW_S)
            tuner.turn(reading=nothing, **stopped)

    tuner.run(4)
    empty(2)
    tuner.until(State.TRIAL)
    empty(1)
    tuner.run(60)
    account = TuningAccount.of(lines(tuner))
    low, high = account.lost.interval
    assert account.lost.requests >= 1000.0 * WINDOW_S * 0.9, "the window that a try has stopped has cost all of it"
    assert high - low < account.lost.requests
