"""Advice that is followed ends: nobody is led back, and after two steps only trying tells."""

from dataclasses import replace

import pytest
from tests.models.conftest import make_window

from poolpilot.env.objective import Objective
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.window import Window
from poolpilot.models.advice.no_circle import without_circle
from poolpilot.models.advice.prediction import Prediction

FIRST, SECOND, THIRD, FOURTH = (PoolTuple(size, 3, 500) for size in (2, 16, 4, 8))


def seen(*steps: tuple[PoolTuple, float]) -> list[Window]:
    """A window under each tuple, with so many requests a second."""
    windows = []
    for pool_tuple, per_s in steps:
        window = make_window(3, pool_tuple)
        each = replace(window.classes["read"], throughput_per_s=per_s)
        windows.append(replace(window, classes={"read": each}))
    return windows


def towards(chosen: PoolTuple, in_force: PoolTuple) -> Prediction:
    return Prediction(chosen, in_force, False, ("so it was learned",), "digest", 0.3, 0.1, 0.5)


@pytest.mark.parametrize(
    ("steps", "chosen", "verdict"),
    [
        (((FIRST, 100.0),), SECOND, "change"),
        (((FIRST, 100.0), (SECOND, 120.0)), THIRD, "change"),
        (((FIRST, 100.0), (SECOND, 120.0)), FIRST, "leave it"),
        (((FIRST, 100.0), (SECOND, 98.0)), FIRST, "leave it"),
        (((FIRST, 100.0), (SECOND, 60.0)), FIRST, "no advice"),
        (((FIRST, 100.0), (SECOND, 120.0), (THIRD, 130.0)), FOURTH, "no advice"),
        (((FIRST, 100.0), (FIRST, 110.0)), SECOND, "change"),
    ],
)
def test_what_becomes_of_a_step(steps: tuple[tuple[PoolTuple, float], ...], chosen: PoolTuple, verdict: str) -> None:
    windows = seen(*steps)
    told = without_circle(towards(chosen, windows[-1].pool_tuple), windows, Objective(price_of_thread=0.0))
    assert told.verdict == verdict
    assert told.keeps is (verdict != "change")


def test_what_did_better_before_is_named_with_how_much() -> None:
    told = without_circle(towards(FIRST, SECOND), seen((FIRST, 100.0), (SECOND, 50.0)), Objective(price_of_thread=0.0))
    assert told.reasons == (f"{FIRST} was left for {SECOND} and did better, +100 %: only trying both in turn tells",)


def test_advice_to_leave_it_stays_what_it_is() -> None:
    kept = towards(SECOND, SECOND)
    assert without_circle(kept, seen((FIRST, 100.0), (SECOND, 10.0)), Objective()) is kept
