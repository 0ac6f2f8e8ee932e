"""Hours in which the tuner may act."""

from datetime import datetime, timedelta

import pytest

from poolpilot.errors import SettingError
from poolpilot.serve.tuner.guard.hours import Hours

MONDAY = datetime(2026, 3, 2)


def held(text: str) -> set[tuple[int, int]]:
    """Day of the week and hour of each full hour of a week that is held."""
    hours = Hours.parse(text)
    moments = [MONDAY + timedelta(hours=hour) for hour in range(168)]
    return {(when.weekday(), when.hour) for when in moments if hours.hold(when)}


def test_presets() -> None:
    assert len(held("always")) == 168
    assert held("nights") == {(day, hour) for day in range(7) for hour in (22, 23, 0, 1, 2, 3, 4, 5)}
    assert held("weekends") == {(day, hour) for day in (5, 6) for hour in range(24)}


def test_days_and_a_span() -> None:
    assert held("weekdays 01:00-05:00") == {(day, hour) for day in range(5) for hour in range(1, 5)}
    assert held(" Tue 09:30-11:00 ") == {(1, 10)}


def test_span_over_midnight_belongs_to_the_day_on_which_it_begins() -> None:
    assert held("fri 23:00-02:00") == {(4, 23), (5, 0), (5, 1)}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "never",
        "weekdays",
        "25:00-26:00",
        "daily 24:00-01:00",
        "daily 01:60-02:00",
        "daily 02:00-02:00",
        "xyz 01:00-02:00",
    ],
)
def test_what_are_no_hours_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(SettingError, match="write always, nights"):
        Hours.parse(text)
