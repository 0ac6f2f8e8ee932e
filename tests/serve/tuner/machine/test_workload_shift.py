"""Another workload is told from chance: by goodput, by completed requests, and by what its requests look like."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from tests.serve.tuner.conftest import INITIAL, Drive, flat, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.another_workload import WorkloadShift, shift_of
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Reading

RULES = rules()
BETTER = PoolTuple(16, 3, 500)
MakeDrive = Callable[..., Drive]


def reading(goodput_per_s: float, throughput_per_s: float, *, by_time: bool = True) -> Reading:
    return Reading(goodput_per_s=goodput_per_s, throughput_per_s=throughput_per_s, seconds=5.0, by_time=by_time)


def looking(*ratios: float | None) -> Reading:
    return Reading(goodput_per_s=100.0, throughput_per_s=100.0, seconds=5.0, ratios=ratios)


def changed(window: Reading, usual: Sequence[Reading]) -> float:
    """How far goodput, or completed requests, have changed; 0 where that is chance."""
    found = shift_of(window, usual, RULES)
    return 0.0 if found is None else found.change


SCATTERED = [reading(goodput_per_s, 1000.0) for goodput_per_s in (100.0, 250.0, 80.0, 300.0)]


def test_what_scatter_hides_is_told_by_completed_requests() -> None:
    assert changed(reading(150.0, 990.0), SCATTERED) == 0.0
    assert changed(reading(150.0, 500.0), SCATTERED) == pytest.approx(math.log(0.5))
    assert changed(reading(150.0, 2000.0), SCATTERED) == pytest.approx(math.log(2.0))


def test_where_goodput_is_no_time_it_alone_tells() -> None:
    usual = [reading(100.0, 1000.0, by_time=False)] * 4
    assert changed(reading(100.0, 500.0, by_time=False), usual) == 0.0
    assert changed(reading(50.0, 1000.0, by_time=False), usual) == pytest.approx(math.log(0.5))


def test_goodput_that_changes_beyond_chance_is_enough() -> None:
    usual = [reading(100.0, 1000.0)] * 4
    assert changed(reading(200.0, 1000.0), usual) == pytest.approx(math.log(2.0))
    assert changed(reading(120.0, 1000.0), usual) == 0.0


def test_requests_that_look_different_are_of_another_workload_whatever_is_completed() -> None:
    usual = [looking(1.0, 2.0, 0.5, 0.1, None)] * 4
    assert shift_of(looking(1.0, 2.0, 0.7, 0.3, None), usual, RULES) is None
    assert shift_of(looking(1.0, 3.0, 0.5, 0.1, 9.0), usual, RULES) == WorkloadShift(change=0.0, apart=0.5)


@pytest.mark.parametrize("seen", [(), (None,) * 5, (1.0, None, None, 0.1, None)])
def test_what_is_not_shown_tells_nothing(seen: tuple[float | None, ...]) -> None:
    assert shift_of(looking(1.0, 3.0, 0.5, 0.1, 2.0), [looking(*seen)] * 4, RULES) is None


def test_ratios_that_scatter_by_themselves_are_of_one_workload() -> None:
    rng = np.random.default_rng(3)
    windows = [looking(*(1.0 + 0.3 * rng.standard_normal(8))) for _ in range(200)]
    found = [
        shift_of(windows[at], windows[at - 4 : at], RULES, windows[max(at - 12, 0) : at - 4]) for at in range(20, 200)
    ]
    assert sum(each is not None for each in found) <= 3
    steady = [looking(*(1.0 + 0.01 * rng.standard_normal(8))) for _ in range(8)]
    assert shift_of(windows[0], steady, RULES) is not None


def test_it_says_what_it_is_told_by() -> None:
    assert str(WorkloadShift(math.log(1.5))) == "goodput changed by +50 %"
    assert str(WorkloadShift(0.0, 0.5)) == "requests look different (0.50 from those before)"


def by_turns(first: Sequence[float], second: Sequence[float]) -> Callable[[PoolTuple, float], Sequence[float]]:
    return lambda _pool_tuple, at_s: first if at_s < 400.0 else second


def test_another_workload_that_completes_as_much_is_seen_in_two_windows(drive: MakeDrive) -> None:
    tuner = drive(flat, ratios=by_turns((1.0, 2.0, 0.5, 0.1), (2.0, 1.0, 0.1, 0.5)), wanted=INITIAL, noise=0.01)
    tuner.run(80)
    assert (tuner.memory.workload, tuner.memory.state) == (0, State.HOLD)
    assert "requests look different" in tuner.turn().reason
    assert "the workload is another one" in tuner.turn().reason
    assert tuner.memory.workload == 1


def test_a_change_of_looks_alone_takes_nothing_back(drive: MakeDrive) -> None:
    """Soon after a change a fall of goodput would; that requests look different is not the doing of a tuple."""
    tuner = drive(rising, ratios=by_turns((1.0, 2.0, 0.5, 0.1), (2.0, 1.0, 0.1, 0.5)), wanted=BETTER, noise=0.01)
    while tuner.at_s < 400.0:
        tuner.turn()
    assert tuner.memory.incumbent == BETTER
    assert tuner.memory.changed_s is not None
    assert tuner.at_s - tuner.memory.changed_s < RULES.guard.probation_s
    tuner.run(3)
    assert tuner.memory.workload == 1
    assert State.ROLL_BACK not in tuner.states()


@pytest.mark.parametrize("seed", range(6))
def test_a_load_whose_looks_scatter_is_one_workload_and_tuned(drive: MakeDrive, seed: int) -> None:
    tuner = drive(
        rising, ratios=lambda _, __: (1.0, 2.0, 0.5, 0.1), ratio_noise=0.3, wanted=BETTER, noise=0.02, seed=seed
    )
    tuner.run(200)
    assert tuner.memory.workload <= 2
    assert tuner.memory.incumbent == BETTER
