"""A quota that is used up is named, with what helps; nothing is said where it is not, or nobody can tell."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from poolpilot.featurizer.catalogue import THROTTLED_SHARE
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.observations.used_up_quota import is_quota_used_up, used_up_quota


def throttled(window_of: Callable[..., Window], indicators: dict[str, float], **features: float | None) -> Window:
    return replace(window_of(1, PoolTuple(2, 3, 500), **features), indicators=indicators)


@pytest.mark.parametrize("indicators", [{}, {THROTTLED_SHARE: 0.0}, {THROTTLED_SHARE: 0.05}])
def test_nothing_is_said_where_it_is_not_used_up(
    window_of: Callable[..., Window], indicators: dict[str, float]
) -> None:
    window = throttled(window_of, indicators, cpus=0.4)
    assert used_up_quota(window) is None
    assert not is_quota_used_up(window)


def test_quota_that_is_used_up_is_named_with_what_helps(window_of: Callable[..., Window]) -> None:
    window = throttled(window_of, {THROTTLED_SHARE: 80 / 91}, cpus=0.4)
    assert is_quota_used_up(window)
    assert str(used_up_quota(window)).startswith("the CPU quota of 0.4 processors is used up: raise it")
    assert str(used_up_quota(throttled(window_of, {THROTTLED_SHARE: 1.0}, cpus=None))).startswith("the CPU quota is")
