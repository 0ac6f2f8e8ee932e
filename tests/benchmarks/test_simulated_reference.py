"""A simulated workload is censored by windows of its own reference and finalists, whatever the methods chose."""

import pytest

from poolpilot.featurizer.pool_tuple import PoolTuple
from rivals.simulated_reference import reason_of

BEST, OTHER = PoolTuple(8, 3, 500), PoolTuple(16, 3, 500)
QUIET = {PoolTuple(size, 3, 500): (1.0, 1.0, 1.0) for size in range(20, 26)}


@pytest.mark.parametrize(
    ("best", "other", "reason"),
    [
        ((2.0, 2.0, 1.99), (1.9, 1.91, 1.9), None),
        ((2.0, 2.0, 1.8), (1.7, 1.71, 1.7), "differs from itself"),
        ((2.0, 2.0, 1.93), (1.9, 2.08, 2.09), "is better than the reference"),
        ((3.0, 2.0, 1.0), (1.9, 1.0, 1.9), "windows of one configuration differ"),
    ],
)
def test_reference_that_does_not_repeat_is_censored(
    best: tuple[float, float, float], other: tuple[float, float, float], reason: str | None
) -> None:
    found = reason_of(BEST, {BEST: best, OTHER: other, **QUIET})
    assert found is None if reason is None else reason in (found or "")
