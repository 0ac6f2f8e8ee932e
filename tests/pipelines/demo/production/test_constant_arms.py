"""The best constant is the best over all phases, not of one."""

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.pipelines.demo.production.constant_arms import Core, best_of


def test_best_over_all_phases() -> None:
    first: dict[Core, float] = {(2, 3, 500): 9.0, (4, 3, 10): 8.0, (16, 3, 10): 7.0}
    second: dict[Core, float] = {(2, 3, 500): 1.0, (4, 3, 10): 5.0, (16, 3, 10): 7.0}
    assert best_of([first]) == PoolTuple(2, 3, 500)
    assert best_of([first, second]) == PoolTuple(16, 3, 10)
