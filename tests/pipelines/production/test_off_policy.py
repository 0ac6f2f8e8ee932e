"""Outcomes of one model tell what another would have gained, as far as it names what was tried."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.pipelines.production.conftest import RATE_PER_S, StaticChoice, outcome, window_at

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.predictor import Prediction
from poolpilot.pipelines.production.off_policy import off_policy_gain
from poolpilot.pipelines.production.production_outcome import ProductionOutcome

START, GOOD, BAD = PoolTuple(4, 3, 500), PoolTuple(8, 3, 500), PoolTuple(2, 3, 500)
MEAN = {GOOD: 0.2, BAD: -0.2}


def logged(count: int, share_good: float) -> list[ProductionOutcome]:
    """What a policy did that sets the good tuple with a probability, else the bad one; gains spread by 0.1."""
    rng = np.random.default_rng(count)
    found = []
    for number in range(count):
        chosen, propensity = (GOOD, share_good) if rng.random() < share_good else (BAD, 1.0 - share_good)
        gain = rng.normal(MEAN[chosen], 0.1)
        after = window_at(RATE_PER_S * math.exp(gain), chosen)
        found.append(replace(outcome(number, "ab" * 32, 0.0, propensity=propensity), after=after))
    return [replace(one, objective=Objective(price_of_thread=0.0)) for one in found]


class AlternatingChoice:
    """Names the good tuple for every second window, else the bad one."""

    def __init__(self) -> None:
        self.asked = 0

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        self.asked += 1
        return StaticChoice(GOOD if self.asked % 2 else BAD).predict(windows, limits, objective)


@pytest.mark.parametrize(("chosen", "mean"), [(GOOD, 0.2), (BAD, -0.2), (START, 0.0)])
def test_the_mean_of_what_would_have_been_set_is_found(chosen: PoolTuple, mean: float) -> None:
    found = off_policy_gain(StaticChoice(chosen), logged(400, 0.8))
    assert found.mean == pytest.approx(mean, abs=3.5 * found.error + 1e-9)
    assert found.logged == pytest.approx(0.8 * 0.2 - 0.2 * 0.2, abs=0.05)
    assert (found.objection(0.01) is None) == (mean > 0.1)


def test_policies_that_mix_are_weighed_by_their_propensities() -> None:
    found = off_policy_gain(AlternatingChoice(), logged(2000, 0.8))
    assert found.mean == pytest.approx(0.0, abs=4.0 * found.error), "without weights it would be 0.12"
    assert found.error < 0.03


def test_too_little_says_nothing() -> None:
    bad = StaticChoice(BAD)
    assert off_policy_gain(bad, logged(9, 0.5)).objection(0.01) is None
    unknown = off_policy_gain(StaticChoice(PoolTuple(64, 3, 500)), logged(100, 0.5))
    assert (unknown.worth, unknown.objection(0.01)) == (0.0, None)
    untried = [replace(one, verdict="not tried") for one in logged(100, 0.5)]
    assert off_policy_gain(bad, untried).outcomes == 0
    assert off_policy_gain(bad, []).objection(0.0) is None


@pytest.mark.parametrize("propensity", [1e-310, 1e-12])
def test_no_single_report_decides(propensity: float) -> None:
    """One of a probability that nobody has would make the mean no number, or be worth more than all others."""
    found = logged(200, 0.5)
    odd = replace(found[0], after=window_at(RATE_PER_S, GOOD), propensity=propensity)
    good, bad = (off_policy_gain(StaticChoice(chosen), [odd, *found]) for chosen in (GOOD, BAD))
    assert good.objection(0.01) is None
    assert good.worth > 20.0
    assert bad.objection(0.01) is not None
