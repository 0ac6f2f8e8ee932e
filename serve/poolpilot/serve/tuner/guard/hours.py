"""Hours of the week in which the tuner may change anything: `nights`, `weekends`, or such as `weekdays 01:00-05:00`."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from poolpilot.errors import SettingError

PRESETS = {"always": "daily 00:00-24:00", "nights": "daily 22:00-06:00", "weekends": "weekends 00:00-24:00"}
DAYS = {"daily": range(7), "weekdays": range(5), "weekends": range(5, 7)}
NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
FORM = re.compile(r"(\w+) (\d\d):(\d\d)-(\d\d):(\d\d)")
MINUTES_OF_DAY = 1440


@dataclass(frozen=True)
class Hours:
    """A span of time on some days of the week, by the clock of this host.

    One over midnight belongs to the day on which it begins.

    Attributes:
        text: As it was given.
        days: Days of the week, Monday is 0.
        begin_min: First minute of the day.
        end_min: Minute of the day that it ends before; one up to the first is of the next day.

    Examples:
        >>> nights = Hours.parse("nights")
        >>> nights.hold(datetime(2026, 3, 2, 23, 30)), nights.hold(datetime(2026, 3, 2, 12, 0))
        (True, False)
    """

    text: str
    days: tuple[int, ...]
    begin_min: int
    end_min: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads a preset, or days and a span.

        Raises:
            SettingError: It is neither.
        """
        found = FORM.fullmatch(PRESETS.get(text.strip(), text.strip()).lower())
        days = None if found is None else _days(found[1])
        if found is None or days is None:
            raise _not_hours(text)
        begin, end = (60 * int(found[hour]) + int(found[hour + 1]) for hour in (2, 4))
        if begin >= MINUTES_OF_DAY or end > MINUTES_OF_DAY or begin == end or int(found[3]) > 59 or int(found[5]) > 59:
            raise _not_hours(text)
        return cls(text, days, begin, end)

    def hold(self, when: datetime) -> bool:
        """Whether a moment is within them."""
        minute, day = 60 * when.hour + when.minute, when.weekday()
        if self.begin_min < self.end_min:
            return day in self.days and self.begin_min <= minute < self.end_min
        return (day in self.days and minute >= self.begin_min) or ((day - 1) % 7 in self.days and minute < self.end_min)


def _days(word: str) -> tuple[int, ...] | None:
    if word in DAYS:
        return tuple(DAYS[word])
    return (NAMES.index(word),) if word in NAMES else None


def _not_hours(text: str) -> SettingError:
    return SettingError(
        f"{text!r} are no hours: write always, nights (22:00 to 06:00), weekends, or days and a span such as "
        f"'weekdays 01:00-05:00'; days are daily, weekdays, weekends, {', '.join(NAMES)}"
    )
