"""Choices are judged by what was written down, and a loss is only excluded by windows that could have shown it."""

import numpy as np
import pytest

from suite.expectation import Expectation
from suite.judgement import MARGIN, LossToDefault, came_true, judge

DEFAULT, LARGER = (2, 3, 500), (16, 3, 10)
MORE = Expectation("change", "l", "w", "s", pool_size="up")
FEWER = Expectation("change", "l", "w", "s", pool_size="down")
FLAT, HOLD, ABSTAIN = (Expectation(verdict, "l", "w", "s") for verdict in ("flat", "hold", "abstain"))


def lost(share: float, noise: float = 0.0, rounds: int = 8) -> LossToDefault:
    """A difference of so much, with a noise that has exactly this standard deviation."""
    spread = np.tile([1.0, -1.0], rounds // 2) * noise * np.sqrt((rounds - 1) / rounds)
    return LossToDefault.of_rounds(list(np.log1p(-share) + spread), [0.0] * rounds)


def test_difference_has_bounds_and_power() -> None:
    difference = lost(0.1, noise=0.04)
    assert difference.loss == pytest.approx(0.1)
    assert difference.low < 0.1 < difference.high
    # t of 95 % and of 80 % with 7 degrees of freedom are 1.895 and 0.896; the standard error is 0.04 / sqrt(8).
    assert difference.detectable == pytest.approx(1.0 - np.exp(-(1.895 + 0.896) * 0.04 / np.sqrt(8)), rel=1e-3)
    assert lost(0.1, noise=0.08).detectable > difference.detectable


def test_same_series_lose_nothing() -> None:
    same = LossToDefault.of_rounds([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (same.loss, same.low, same.high, same.detectable) == (0.0, 0.0, 0.0, 0.0)


def test_one_round_shows_nothing() -> None:
    assert LossToDefault.of_rounds([1.0], [1.0]).high == 1.0


def test_loss_is_excluded_as_often_as_it_should() -> None:
    """A tuple that truly loses the margin passes for as good in one of twenty experiments at most, or about that."""
    rng = np.random.default_rng(1)
    trials = [
        LossToDefault.of_rounds(list(np.log1p(-MARGIN) + rng.normal(0.0, 0.03, 8)), [0.0] * 8).high < MARGIN
        for _ in range(2000)
    ]
    assert 0.03 < np.mean(trials) < 0.07


def test_right_direction_is_right_whatever_it_brought() -> None:
    assert judge(MORE, LARGER, DEFAULT, abstained=False, difference=lost(0.2)).outcome == "right"
    assert judge(FEWER, LARGER, DEFAULT, abstained=False, difference=lost(-0.2)).outcome == "wrong"
    assert judge(MORE, DEFAULT, DEFAULT, abstained=True, difference=lost(0.0)).outcome == "wrong"


def test_flat_is_right_where_a_loss_is_excluded_only() -> None:
    assert judge(FLAT, LARGER, DEFAULT, abstained=False, difference=lost(0.01, noise=0.01)).outcome == "right"
    assert judge(FLAT, LARGER, DEFAULT, abstained=False, difference=lost(0.01, noise=0.2)).outcome == "not shown"
    assert judge(FLAT, LARGER, DEFAULT, abstained=False, difference=lost(0.2, noise=0.01)).outcome == "wrong"
    assert judge(FLAT, DEFAULT, DEFAULT, abstained=False, difference=lost(0.0)).outcome == "right"


@pytest.mark.parametrize("expectation", [MORE, FLAT])
def test_what_takes_too_much_from_a_long_class_is_wrong(expectation: Expectation) -> None:
    judged = judge(expectation, LARGER, DEFAULT, abstained=False, difference=lost(-0.5, noise=0.01), floors_kept=False)
    assert judged.outcome == "wrong"


def test_to_hold_is_to_leave_and_to_abstain_is_to_say_so() -> None:
    nothing = lost(0.0)
    assert judge(HOLD, DEFAULT, DEFAULT, abstained=False, difference=nothing).outcome == "right"
    assert judge(HOLD, LARGER, DEFAULT, abstained=False, difference=nothing).outcome == "wrong"
    assert judge(ABSTAIN, DEFAULT, DEFAULT, abstained=True, difference=nothing).outcome == "right"
    assert judge(ABSTAIN, DEFAULT, DEFAULT, abstained=False, difference=nothing).outcome == "wrong"


@pytest.mark.parametrize(
    ("expectation", "difference", "truth"),
    [
        (MORE, lost(-0.5, noise=0.02), "yes"),
        (FEWER, lost(-0.5, noise=0.02), "no"),
        (MORE, lost(-0.01, noise=0.02), "no"),
        (MORE, lost(-0.1, noise=0.5), "not shown"),
        (FLAT, lost(-0.01, noise=0.01), "yes"),
        (FLAT, lost(-0.5, noise=0.02), "no"),
        (FLAT, lost(-0.1, noise=0.5), "not shown"),
        (HOLD, lost(-0.5), "not measured"),
    ],
)
def test_sweep_bears_a_direction_out_or_not(expectation: Expectation, difference: LossToDefault, truth: str) -> None:
    assert came_true(expectation, LARGER, DEFAULT, difference) == truth
