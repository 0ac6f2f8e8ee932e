"""Comparisons by turns: what is better, what is worse, and what cannot be told."""

import math
import statistics

import numpy as np
import pytest

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings, PaceSettings
from poolpilot.serve.tuner.machine.evidence.paired_trial import LEAST_NOISE, PairedTrial, noise_of
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading

BEFORE, CANDIDATE = PoolTuple(2, 3, 500), PoolTuple(4, 3, 500)
GUARD, PACE = GuardSettings(), PaceSettings()


def reading(rate: float, latency_ms: float | None = None) -> Reading:
    return Reading(goodput_per_s=rate, throughput_per_s=rate, latency_ms=latency_ms, seconds=5.0)


def begun(noise: float = 0.02, latency_ms: float | None = None) -> PairedTrial:
    first = reading(1000.0, latency_ms)
    return PairedTrial(before=BEFORE, candidate=CANDIDATE, noise=noise, befores=(first,))


def run(ratio: float, noise: float, seed: int, drift: float = 0.0) -> str:
    rng = np.random.default_rng(seed)

    def rate(of_candidate: bool, place: int) -> Reading:
        factor = ratio if of_candidate else 1.0
        return reading(1000.0 * factor * math.exp(noise * rng.standard_normal() + drift * place))

    trial = begun(noise).model_copy(update={"befores": (rate(False, 0),)})
    for place in range(1, 100):
        trial = trial.with_reading(rate(trial.next == CANDIDATE, place))
        if trial.harm(GUARD) is not None:
            return "harm"
        if (verdict := trial.verdict(GUARD, PACE)) is not None:
            return verdict
    raise AssertionError("no verdict")


def test_windows_take_turns() -> None:
    trial = begun()
    order = []
    for _ in range(6):
        order.append(trial.next)
        trial = trial.with_reading(reading(1000.0))
    assert order == [CANDIDATE, BEFORE] * 3


@pytest.mark.parametrize("drift", [0.0, 0.01, -0.01])
def test_an_even_drift_of_the_load_is_no_gain(drift: float) -> None:
    trial = begun()
    for place in range(1, 9):
        trial = trial.with_reading(reading(1000.0 * math.exp(drift * place)))
    gain, _ = trial.gain()
    assert gain == pytest.approx(0.0, abs=1e-12)


def test_gain_is_the_difference_to_the_windows_around() -> None:
    trial = begun()
    for rate in (1100.0, 1000.0, 1200.0, 1000.0):
        trial = trial.with_reading(reading(rate))
    assert trial.gain()[0] == pytest.approx(statistics.fmean([math.log(1.1), math.log(1.2)]))
    assert trial.lost_requests() == pytest.approx(-(100.0 + 200.0) * 5.0)


@pytest.mark.parametrize(("ratio", "expected"), [(1.3, "better"), (0.6, "harm"), (0.8, "harm")])
def test_what_is_plain_is_told(ratio: float, expected: str) -> None:
    assert {run(ratio, 0.02, seed) for seed in range(50)} == {expected}


def test_errors_are_as_rare_as_they_should_be() -> None:
    """Of trials that change nothing one in twenty may be called better, and few may end early."""
    same = [run(1.0, 0.06, seed) for seed in range(2000)]
    assert same.count("better") / len(same) < 0.08
    assert same.count("harm") / len(same) < 0.05


def test_most_of_a_small_gain_is_found_in_spite_of_noise() -> None:
    found = [run(1.15, 0.06, seed) for seed in range(500)]
    assert found.count("better") / len(found) > 0.8


def test_standard_error_is_that_of_many_repeats() -> None:
    rng, gains, errors = np.random.default_rng(0), [], []
    for _ in range(2000):
        trial = begun(0.1).model_copy(update={"befores": (reading(1000.0 * math.exp(0.1 * rng.standard_normal())),)})
        for _ in range(12):
            trial = trial.with_reading(reading(1000.0 * math.exp(0.1 * rng.standard_normal())))
        gain, error = trial.gain()
        gains.append(gain)
        errors.append(error)
    assert statistics.fmean(errors) == pytest.approx(statistics.stdev(gains), rel=0.1)


def test_latency_is_judged_where_both_sides_have_it() -> None:
    trial = begun(latency_ms=10.0).with_reading(reading(1000.0, 13.0))
    assert "latency under (4, 3, 500) is 30 % above" in str(trial.harm(GUARD))
    assert begun(latency_ms=10.0).with_reading(reading(1000.0, 11.0)).harm(GUARD) is None
    assert begun(latency_ms=None).with_reading(reading(1000.0, 13.0)).harm(GUARD) is None


def test_noise_is_told_by_steps_and_has_a_floor() -> None:
    rng = np.random.default_rng(1)
    readings = [reading(1000.0 * math.exp(0.1 * rng.standard_normal() + 0.01 * n)) for n in range(2000)]
    assert noise_of(readings) == pytest.approx(0.1, rel=0.1)
    assert noise_of([reading(1000.0)] * 5) == noise_of([reading(1000.0)]) == LEAST_NOISE


def timed(time_goodput: float, completed: float) -> Reading:
    """A window whose goodput is told by the time that requests spend in the pool."""
    return Reading(goodput_per_s=time_goodput, throughput_per_s=completed, seconds=5.0, by_time=True)


def timed_trial(*windows: tuple[float, float], scatter: float = 0.02) -> PairedTrial:
    """A comparison of such windows, whose time scatters by half and whose completions by `scatter`."""
    first, *others = (timed(*each) for each in windows)
    trial = PairedTrial(before=BEFORE, candidate=CANDIDATE, noise=0.5, befores=(first,), throughput_noise=scatter)
    for each in others:
        trial = trial.with_reading(each)
    return trial


def test_fewer_requests_end_a_try_though_each_spends_less_time() -> None:
    trial = timed_trial((3000.0, 70_000.0), (90_000.0, 60_000.0))
    assert trial.harm(GUARD) == "(4, 3, 500) completes 14 % fewer requests than (2, 3, 500)"
    assert trial.verdict(GUARD, PACE) is None
    assert timed_trial((3000.0, 70_000.0), (90_000.0, 69_000.0)).harm(GUARD) is None


def test_more_time_for_as_many_requests_is_not_told_as_fewer_of_them() -> None:
    """Before, a step under which as many were completed was said to complete less."""
    slower = timed_trial((90_000.0, 70_000.0), (3000.0, 70_000.0)).harm(GUARD)
    assert slower == "(4, 3, 500) is 97 % worse than (2, 3, 500) by the time that requests spend"


def test_a_few_requests_fewer_are_too_few_to_stay() -> None:
    pairs = [(90_000.0, 67_000.0), (3000.0, 70_000.0)] * 6
    trial = timed_trial((3000.0, 70_000.0), *pairs)
    assert trial.harm(GUARD) is None
    assert trial.verdict(GUARD, PACE) == "worse"
    assert "completes 4 % fewer requests than (2, 3, 500): too few to stay" in str(trial.too_slow((), GUARD))
    as_many = timed_trial((3000.0, 70_000.0), *[(90_000.0, 70_500.0), (3000.0, 70_000.0)] * 3)
    assert as_many.verdict(GUARD, PACE) == "better"


def test_time_saved_beyond_doubt_waits_for_completions_that_are_in_doubt() -> None:
    """In a demonstration a pair of windows said ten times better by time, a tenth fewer completed: it was taken."""
    before, fewer, as_many, more = (3000.0, 70_000.0), (90_000.0, 63_000.0), (90_000.0, 70_000.0), (90_000.0, 90_000.0)
    assert timed_trial(before, more, before, scatter=0.06).verdict(GUARD, PACE) == "better"
    for doubtful in (fewer, as_many):
        assert timed_trial(before, doubtful, before, scatter=0.06).verdict(GUARD, PACE) is None
    assert timed_trial(before, *[fewer, before] * 3, scatter=0.06).verdict(GUARD, PACE) is None
    assert timed_trial(before, *[fewer, before] * 6, scatter=0.06).verdict(GUARD, PACE) == "worse"
    assert timed_trial(before, *[as_many, before] * 2, scatter=0.06).verdict(GUARD, PACE) is None
    assert timed_trial(before, *[as_many, before] * 3, scatter=0.06).verdict(GUARD, PACE) == "better"


def test_what_has_done_well_must_stand_by_its_completions_too() -> None:
    trial = timed_trial((3000.0, 70_000.0), (90_000.0, 70_500.0), (3000.0, 70_000.0))
    assert trial.fails(timed(90_000.0, 70_000.0), GUARD) is None
    assert trial.fails(timed(90_000.0, 60_000.0), GUARD) == "14 % below (2, 3, 500)"


def test_what_a_try_leaves_behind_is_told_by_the_windows_before_it() -> None:
    before = [reading(rate) for rate in (1000.0, 1010.0, 990.0, 1000.0)]
    fallen, same = (
        begun(0.01).model_copy(update={"befores": (before[-1], *(reading(rate) for rate in rates))})
        for rates in ((900.0, 905.0), (995.0, 1000.0))
    )
    assert fallen.left_behind(before, GUARD) == pytest.approx(0.1026, abs=0.001)
    assert same.left_behind(before, GUARD) == 0.0
    assert begun(0.01).left_behind(before, GUARD) == 0.0
    slower = timed_trial((3000.0, 70_000.0), (90_000.0, 70_000.0), (3000.0, 60_000.0))
    assert slower.left_behind([timed(3000.0, 70_000.0)] * 4, GUARD) == pytest.approx(math.log(7 / 6))


def test_where_going_back_is_what_loses_the_windows_before_the_try_count() -> None:
    before = [reading(rate, 10.0) for rate in (1000.0, 1010.0, 990.0, 1000.0)]
    trial = begun(0.01, 10.0).model_copy(update={"befores": (before[-1], *[reading(900.0, 8.0)] * 3)})
    as_good, as_poor = (
        trial.model_copy(update={"candidates": (reading(rate, latency_ms),) * 3})
        for rate, latency_ms in ((1005.0, 9.9), (930.0, 8.4))
    )
    assert "too much to stay" in str(as_good.too_slow((), GUARD))
    held = as_good.held_to(before, GUARD)
    assert held.befores == tuple(before)
    assert (held.harm(GUARD), held.too_slow((), GUARD), held.verdict(GUARD, PACE)) == (None, None, "no worse")
    assert as_poor.held_to(before, GUARD) is as_poor  # both have lost: that is the load
    assert begun(0.01).with_reading(reading(1000.0)).held_to(before, GUARD).befores == begun(0.01).befores
