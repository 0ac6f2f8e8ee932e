"""A direction is agreed with by what moves its way and by nothing that moves against it."""

import pytest

from poolpilot.env.measurement.sweep import Core
from poolpilot.errors import SettingError
from suite.expectation import Expectation

DEFAULT = (2, 3, 500)
MORE = Expectation("change", "l", "w", "s", pool_size="up", timer_interval_ms="down")
FEWER = Expectation("change", "l", "w", "s", pool_size="down")
HOLD = Expectation("hold", "l", "w", "s")


@pytest.mark.parametrize(
    ("expectation", "chosen", "agrees"),
    [
        (MORE, (16, 3, 500), True),
        (MORE, (2, 3, 10), True),
        (MORE, (16, 1, 10), True),
        (MORE, (1, 3, 10), False),
        (MORE, (16, 3, 1000), False),
        (MORE, (2, 8, 500), False),
        (MORE, DEFAULT, False),
        (FEWER, (1, 3, 10), True),
        (FEWER, (4, 3, 500), False),
        (FEWER, DEFAULT, False),
        (HOLD, DEFAULT, True),
        (HOLD, (2, 3, 10), False),
    ],
)
def test_who_agrees(expectation: Expectation, chosen: Core, agrees: bool) -> None:
    assert expectation.agrees(chosen, DEFAULT) is agrees


def test_words() -> None:
    assert (MORE.in_words, MORE.in_short) == ("size up or stall limit down", "more threads")
    assert (FEWER.in_words, FEWER.in_short) == ("size down", "fewer threads")
    assert (HOLD.in_words, HOLD.in_short) == ("hold", "hold")


def test_direction_without_a_change_and_change_without_a_direction_are_refused() -> None:
    with pytest.raises(SettingError, match="and only there"):
        Expectation("flat", "l", "w", "s", pool_size="up")
    with pytest.raises(SettingError, match="and only there"):
        Expectation("change", "l", "w", "s")
    with pytest.raises(SettingError, match="no verdict 'maybe'"):
        Expectation("maybe", "l", "w", "s")  # type: ignore[arg-type]
