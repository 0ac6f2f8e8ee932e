"""Simulated pools: every controller climbs, the same seed gives the same run, all see the same windows."""

import pytest

from climbing import pools
from climbing.pools import OBJECTIVE, SIZES, landscape, measured
from harness.experiment import Task

PLACE = "sim_hot_latch, from default"


@pytest.fixture(autouse=True)
def one_family(monkeypatch: pytest.MonkeyPatch) -> None:
    """Predictors learn from draws of one family, which is soon swept."""
    monkeypatch.setattr(pools, "FAMILIES", ("sim_hot_latch",))
    pools._controllers.cache_clear()


def test_every_controller_climbs_a_simulated_pool_and_does_the_same_twice() -> None:
    tasks = [Task(arm, PLACE, 1, quick=True) for arm in ("spectral", "wait_ratio", "usl", "nearest")]
    scores = [measured(task) for task in tasks]
    for found in scores:
        assert 0.0 <= found["objective_lost"] < 1.0
        assert 0.0 <= found["end_lost"] < 1.0
    assert [measured(task) for task in tasks] == scores


def test_search_that_remembers_other_draws_differs_from_one_that_does_not() -> None:
    without, remembering = (measured(Task(arm, PLACE, 1, quick=True)) for arm in ("bayesian", "ottertune"))
    assert 0.0 <= remembering["objective_lost"] < 1.0
    assert remembering != without


def test_draws_of_a_family_are_other_workloads_whose_sizes_are_all_told() -> None:
    first, second = (landscape("sim_hot_latch", seed) for seed in (1, 2))
    assert first.scale == second.scale == max(SIZES)
    assert first.price_of_thread == OBJECTIVE.price_of_thread
    assert first.throughputs_per_s.tolist() != second.throughputs_per_s.tolist()
