"""When a demonstration must be done: what is left is shared, so that a busy machine measures less and not longer."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on a clock.

    Attributes:
        at_s: The moment.
        now_s: The clock, in seconds.
    """

    at_s: float
    now_s: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float, now_s: Callable[[], float] = time.monotonic) -> Self:
        """So many seconds from now."""
        return cls(now_s() + seconds, now_s)

    @property
    def left_s(self) -> float:
        """Seconds until then, 0 once it is past."""
        return max(self.at_s - self.now_s(), 0.0)

    @property
    def is_past(self) -> bool:
        """Whether nothing is left."""
        return self.left_s == 0.0

    def part(self, share: float) -> "Deadline":
        """The moment at which this share of what is left is used up."""
        return Deadline.after(share * self.left_s, self.now_s)

    def in_words(self) -> str:
        """What is left, such as "about 2 min 10 s left"."""
        minutes, seconds = divmod(round(self.left_s / 5.0) * 5, 60)
        return f"about {f'{minutes} min ' if minutes else ''}{seconds} s left"
