"""While a CPU quota is used up nothing in the pool helps: more threads, and what only trying would tell, are left."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from poolpilot.env.objective import Objective
from poolpilot.featurizer.catalogue import THROTTLED_SHARE
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.gain_bound import within_bound
from poolpilot.models.advice.prediction import Prediction

IN_FORCE = PoolTuple(4, 3, 500)


def told(
    window_of: Callable[..., Window], core: tuple[int, int, int], throttled: float, *, abstained: bool
) -> Prediction:
    window = replace(window_of(1, IN_FORCE, cpus=0.4), indicators={THROTTLED_SHARE: throttled})
    prediction = Prediction(IN_FORCE.with_core(core), IN_FORCE, abstained, ("told so",), "digest", 0.5, -0.1, 0.9)
    return within_bound(prediction, [window], Objective())


@pytest.mark.parametrize(
    ("core", "abstained"), [((8, 3, 500), False), ((4, 5, 500), False), ((4, 3, 10), False), ((4, 3, 500), True)]
)
def test_more_threads_are_left_and_the_quota_is_the_reason(
    window_of: Callable[..., Window], core: tuple[int, int, int], *, abstained: bool
) -> None:
    prediction = told(window_of, core, 0.9, abstained=abstained)
    assert prediction.verdict == "leave it"
    assert prediction.reasons[0].startswith("the CPU quota of 0.4 processors is used up: raise it")
    assert prediction.expected_gain == prediction.gain_low == prediction.gain_high == 0.0


@pytest.mark.parametrize(("core", "throttled"), [((2, 3, 500), 0.9), ((8, 3, 500), 0.05)])
def test_fewer_threads_and_a_quota_that_is_not_used_up_are_another_matter(
    window_of: Callable[..., Window], core: tuple[int, int, int], throttled: float
) -> None:
    prediction = told(window_of, core, throttled, abstained=False)
    assert not any("quota" in reason for reason in prediction.reasons)
