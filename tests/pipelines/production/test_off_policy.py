"""Outcomes of one model tell what another would have gained, as far as it names what was tried."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.pipelines.production.conftest import RATE_PER_S, StaticChoice, outcome, window_at

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.prediction import Prediction
from poolpilot.pipelines.production.off_policy import off_policy_gain, step_towards
from poolpilot.pipelines.production.production_outcome import Became, ProductionOutcome
from poolpilot.serve.tuner.guard.envelope import Envelope
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings

START, GOOD, BAD = PoolTuple(4, 3, 500), PoolTuple(8, 3, 500), PoolTuple(2, 3, 500)
MEAN = {GOOD: 0.2, BAD: -0.2}
ANOTHER = "cd" * 32
"""Digest of what has decided, which is not the one that `StaticChoice` tells."""


def logged(count: int, share_good: float) -> list[ProductionOutcome]:
    """What a policy did that sets the good tuple with a probability, else the bad one; gains spread by 0.1."""
    rng = np.random.default_rng(count)
    found = []
    for number in range(count):
        chosen, propensity = (GOOD, share_good) if rng.random() < share_good else (BAD, 1.0 - share_good)
        gain = rng.normal(MEAN[chosen], 0.1)
        after = window_at(RATE_PER_S * math.exp(gain), chosen)
        found.append(replace(outcome(number, ANOTHER, 0.0, propensity=propensity), after=after))
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
    unknown = off_policy_gain(StaticChoice(PoolTuple(4, 6, 500)), logged(100, 0.5))
    assert (unknown.worth, unknown.objection(0.01)) == (0.0, None)
    untried = [replace(one, verdict="not tried") for one in logged(100, 0.5)]
    assert off_policy_gain(bad, untried).outcomes == 0
    assert off_policy_gain(bad, []).objection(0.0) is None


class ChoosyChoice(StaticChoice):
    """Has no answer where more than three active threads a group are asked for, as a grid that holds no such tuple."""

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        if limits.knobs["oversubscribe"].low > 3:
            raise SettingError("no configuration of the grid lies within the limits")
        return super().predict(windows, limits, objective)


def test_what_a_model_has_no_answer_to_tells_nothing() -> None:
    """Whoever may report outcomes chooses their limits, and must not end everybody's learning by them."""
    sound, model = logged(100, 0.5), ChoosyChoice(GOOD)
    stock = KnobSpace.stock(2)
    oversubscribe = replace(stock.knobs["oversubscribe"], low=11, high=12, default=11)
    odd = replace(sound[0], limits=replace(stock, knobs={**stock.knobs, "oversubscribe": oversubscribe}))
    assert off_policy_gain(model, [odd, *sound]) == replace(off_policy_gain(model, sound), unanswered=1)


@pytest.mark.parametrize("propensity", [1e-310, 1e-12])
def test_no_single_report_decides(propensity: float) -> None:
    """One of a probability that nobody has would make the mean no number, or be worth more than all others."""
    found = logged(200, 0.5)
    odd = replace(found[0], after=window_at(RATE_PER_S, GOOD), propensity=propensity)
    good, bad = (off_policy_gain(StaticChoice(chosen), [odd, *found]) for chosen in (GOOD, BAD))
    assert good.objection(0.01) is None
    assert good.worth > 20.0
    assert bad.objection(0.01) is not None


SMALL, LARGER, FAR, BEYOND = (PoolTuple(size, 3, 10) for size in (4, 8, 16, 32))


def steps(
    before: PoolTuple, after: PoolTuple, gain: float, count: int, verdict: Became = "kept", digest: str = ANOTHER
) -> list[ProductionOutcome]:
    """Tries of a tuner that follows what is named and nothing else, all of one gain."""
    free = Objective(price_of_thread=0.0)
    found = [outcome(number, digest, 0.0, verdict=verdict) for number in range(count)]
    first, then = window_at(RATE_PER_S, before), window_at(RATE_PER_S * math.exp(gain), after)
    return [replace(one, objective=free, before=first, after=then) for one in found]


class UpToFar:
    """Names the far goal from wherever it is not reached, else what is in force."""

    def predict(self, windows: Sequence[Window], limits: KnobSpace, objective: Objective) -> Prediction:
        smaller = windows[-1].pool_tuple.pool_size < FAR.pool_size
        return StaticChoice(FAR if smaller else windows[-1].pool_tuple).predict(windows, limits, objective)


@pytest.mark.parametrize("stays", [10, 15])
def test_model_in_force_is_not_objected_to_by_its_own_steps(stays: int) -> None:
    tried = [*steps(SMALL, LARGER, 0.3, 20), *steps(FAR, BEYOND, -0.1, stays, "rolled back")]
    found = off_policy_gain(UpToFar(), tried)
    assert (found.outcomes, found.worth) == (20 + stays, 20.0 + stays)
    assert found.mean == pytest.approx(6.0 / (20 + stays))
    assert found.logged == pytest.approx((6.0 - 0.1 * stays) / (20 + stays))
    assert found.objection(0.0) is None


def test_who_would_stay_where_much_was_gained_is_objected_to_unless_it_was_itself() -> None:
    def of(digest: str) -> str | None:
        gained = [*steps(SMALL, LARGER, 0.3, 20, digest=digest), *steps(FAR, BEYOND, 0.3, 10, digest=digest)]
        return off_policy_gain(UpToFar(), gained).objection(0.01)

    said = of(ANOTHER)
    assert said is not None
    assert "it would have gained +20.0% on average where what was done has gained +30.0%, at least 4.9% more" in said
    assert of("ab" * 32) is None


def test_what_only_another_could_have_done_is_held_against_nobody() -> None:
    """Nothing is known of the model where what was set had to be set; that much was gained there is not its fault."""
    unknown = steps(LARGER, SMALL, 0.5, 100)
    found = off_policy_gain(UpToFar(), [*steps(FAR, BEYOND, 0.0, 20), *unknown])
    assert (found.outcomes, found.logged, found.objection(0.0)) == (20, 0.0, None)
    rarely_known = [replace(one, propensity=1.0 - 1e-6) for one in unknown]
    assert off_policy_gain(UpToFar(), [*steps(FAR, BEYOND, 0.0, 20), *rarely_known]).objection(0.01) is None


def test_noise_of_what_was_done_is_no_objection() -> None:
    noisy = [one for gain in (0.35, -0.25) for one in steps(FAR, BEYOND, gain, 6)]
    found = off_policy_gain(UpToFar(), noisy)
    assert found.logged == pytest.approx(0.05)
    assert found.objection(0.0) is None


@pytest.mark.parametrize(
    ("tried", "matches"),
    [
        ((8, 3, 250), True),
        ((16, 3, 10), True),
        ((8, 3, 500), False),
        ((4, 3, 250), False),
        ((8, 6, 250), False),
        ((2, 3, 250), False),
        ((16, 3, 250), False),
    ],
)
def test_a_step_on_the_way_and_the_goal_itself_match(tried: tuple[int, int, int], matches: bool) -> None:
    found = off_policy_gain(StaticChoice(FAR), steps(START, PoolTuple(*tried), 0.1, 12))
    assert found.worth == pytest.approx(12.0 if matches else 0.0)


def test_steps_are_those_of_the_tuner() -> None:
    limits = KnobSpace.stock(2)
    envelope = Envelope.of(GuardSettings(), limits)
    rng = np.random.default_rng(1)
    for _ in range(300):
        sizes, threads, limits_ms = rng.integers(1, 129, 2), rng.integers(1, 20, 2), rng.integers(10, 6001, 2)
        cores = zip(sizes.tolist(), threads.tolist(), limits_ms.tolist(), strict=True)
        before, goal = (PoolTuple(size, thread, limit_ms) for size, thread, limit_ms in cores)
        assert step_towards(goal, before, limits) == envelope.step(before, goal).core
