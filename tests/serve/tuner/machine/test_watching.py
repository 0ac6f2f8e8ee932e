"""What is in force is watched until enough is known, whatever the load does meanwhile."""

import pytest
from tests.serve.tuner.conftest import Drive, rising, rules

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.machine.decision import State


@pytest.mark.parametrize("seed", range(12))
def test_a_load_that_scatters_is_one_workload_and_tuned(seed: int) -> None:
    tuner = Drive(rising, wanted=PoolTuple(8, 3, 500), noise=0.3, seed=seed)
    tuner.until(State.TRIAL, most=40)
    assert tuner.memory.workload <= 2


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("noise", [0.01, 0.08])
def test_a_leap_among_windows_that_hardly_scatter_is_another_workload_at_once(seed: int, noise: float) -> None:
    def leaping(pool_tuple: PoolTuple, at_s: float) -> float:
        return rising(pool_tuple, at_s) * (1.0 if at_s < 42.0 else 2.0)

    tuner = Drive(leaping, rules(observe_for_s=120.0), wanted=PoolTuple(8, 3, 500), noise=noise, seed=seed)
    tuner.run(9)
    before = tuner.memory.workload
    tuner.turn()
    assert tuner.memory.workload == before + 1
    assert len(tuner.memory.baseline) == 1
