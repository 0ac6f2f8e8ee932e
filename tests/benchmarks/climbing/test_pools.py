"""Simulated pools: every controller climbs, the same seed gives the same run, all see the same windows."""

from collections.abc import Iterator, Mapping

import pytest

from climbing import pools
from climbing.pools import OBJECTIVE, SIZES, landscape, measured
from climbing.server_controllers import NAMES
from harness.experiment import Found, Task

PLACE = "sim_hot_latch, from default"


def played(arm: str) -> Found:
    return measured(Task(arm, PLACE, 1, quick=True))


@pytest.fixture(scope="module")
def scores() -> Iterator[Mapping[str, Found]]:
    """What every controller makes of one pool; predictors learn from draws of one family, which is soon swept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "FAMILIES", ("sim_hot_latch",))
        pools._controllers.cache_clear()
        yield {arm: played(arm) for arm in NAMES}
    pools._controllers.cache_clear()


@pytest.mark.parametrize("arm", NAMES)
def test_every_controller_climbs_a_simulated_pool(scores: Mapping[str, Found], arm: str) -> None:
    assert 0.0 <= scores[arm]["objective_lost"] < 1.0
    assert 0.0 <= scores[arm]["end_lost"] < 1.0


@pytest.mark.parametrize("arm", ["spectral", "wait_ratio", "usl", "nearest"])
def test_controller_does_the_same_twice(scores: Mapping[str, Found], arm: str) -> None:
    assert played(arm) == scores[arm]


def test_search_that_remembers_other_draws_differs_from_one_that_does_not(scores: Mapping[str, Found]) -> None:
    assert scores["ottertune"] != scores["bayesian"]


def test_draws_of_a_family_are_other_workloads_whose_sizes_are_all_told() -> None:
    first, second = (landscape("sim_hot_latch", seed) for seed in (1, 2))
    assert first.scale == second.scale == max(SIZES)
    assert first.price_of_thread == OBJECTIVE.price_of_thread
    assert first.throughputs_per_s.tolist() != second.throughputs_per_s.tolist()
