"""The best shown is the best of all that was measured together, so no regret is negative; noise is called noise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolpilot.env.measurement.sweep import Core
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.featurizer.window import Window
from poolpilot.pipelines.demo.demo_comparison import DemoComparison

CORES: tuple[Core, ...] = ((1, 3, 500), (8, 3, 10), (16, 3, 10), (64, 3, 10))


def window(core: Core, completed: float) -> Window:
    """A second in which so many requests were completed."""
    gauges = {"connections": 64.0, "cpus": 4.0}
    before, after = (
        Snapshot(at_s, 0, PoolTuple(*core), {"completed": count}, gauges, {})
        for at_s, count in ((0.0, 0.0), (1.0, completed))
    )
    return Window.between(before, after)


def compared(*goodputs: tuple[float, ...]) -> DemoComparison:
    """A comparison; a row for each round, a goodput for each of the first configurations."""
    rounds = [{core: window(core, completed) for core, completed in zip(CORES, row, strict=False)} for row in goodputs]
    return DemoComparison(Objective(price_of_thread=0.0), rounds)


def test_regret_is_the_share_that_is_lost_to_the_best() -> None:
    one = compared((500.0, 1000.0), (500.0, 1000.0))
    assert one.best == CORES[1]
    assert one.regret(CORES[0]) == pytest.approx(0.5)
    assert one.regret(CORES[1]) == 0.0
    assert one.goodput_per_s(CORES[0]) == pytest.approx(500.0)


def test_what_differs_in_every_round_alike_is_told_apart_however_the_machine_drifts() -> None:
    drifting = compared(*[(900.0 * drift, 1000.0 * drift) for drift in (1.0, 0.5, 2.0, 0.7)])
    assert drifting.told_apart(CORES[0])
    assert not drifting.told_apart(drifting.best)
    assert drifting.noise > 0.3
    assert drifting.error(CORES[0]) == pytest.approx(0.0, abs=1e-9)


def test_what_is_worse_in_some_rounds_and_better_in_others_is_not_told_apart() -> None:
    noisy = compared((900.0, 1000.0), (1100.0, 1000.0), (800.0, 1000.0))
    assert not noisy.told_apart(CORES[0])
    assert noisy.regret(CORES[0]) > 0.0


def test_a_single_round_tells_nothing_apart() -> None:
    once = compared((1.0, 1000.0))
    assert not once.told_apart(CORES[0])
    assert (once.error(CORES[0]), once.noise) == (math.inf, 0.0)


@given(st.lists(st.tuples(*[st.floats(1.0, 1e5)] * 4), min_size=1, max_size=8))
def test_no_regret_is_negative(rounds: list[tuple[float, ...]]) -> None:
    one = compared(*rounds)
    regrets = [one.regret(core) for core in one.cores]
    assert min(regrets) == 0.0 == one.regret(one.best)
    assert all(0.0 <= regret <= 1.0 for regret in regrets)


def test_equals_are_told_apart_seldom() -> None:
    """At most 2.5 % a pair by the t-test; the best of four is chosen, so up to three times as often."""
    rng = np.random.default_rng(7)
    told = 0
    for _ in range(400):
        one = compared(*[tuple(row) for row in np.exp(rng.normal(7.0, 0.1, size=(3, 4)))])
        told += sum(one.told_apart(core) for core in one.cores)
    assert told / (400 * 3) < 0.075
