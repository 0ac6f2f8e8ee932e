"""What is expected of a workload before it is measured: a direction against the default tuple, and why."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from poolpilot.env.measurement.sweep import Core
from poolpilot.errors import SettingError

Verdict = Literal["change", "flat", "abstain", "hold"]
"""`flat`: no tuple is better by 5 %; `abstain`: what is seen does not last, so nobody should advise; `hold`: the pool
is not what limits, and whatever the windows say it stays."""

Direction = Literal["up", "down", "any"]

KNOBS = ("pool_size", "oversubscribe", "timer_interval_ms")


@dataclass(frozen=True, slots=True)
class Expectation:
    """A direction, written down beforehand.

    Attributes:
        verdict: What the right answer is.
        pool_size: Where the size should go.
        oversubscribe: Where oversubscribe should go.
        timer_interval_ms: Where the stall limit should go.
        limit: What limits the workload on two processors.
        why: Why that gives the direction.
        source: Where that is known from.
    """

    verdict: Verdict
    limit: str
    why: str
    source: str
    pool_size: Direction = "any"
    oversubscribe: Direction = "any"
    timer_interval_ms: Direction = "any"

    def __post_init__(self) -> None:
        """Refuses a change without a direction, and a direction without a change.

        Raises:
            SettingError: It says one without the other, or an unknown word.
        """
        if self.verdict not in get_args(Verdict):
            raise SettingError(f"there is no verdict {self.verdict!r}; there are {', '.join(get_args(Verdict))}")
        if (self.verdict == "change") != any(direction != "any" for direction in self.directions):
            raise SettingError("an expectation names a direction of a knob where its verdict is change, and only there")

    @property
    def directions(self) -> tuple[Direction, Direction, Direction]:
        """The directions of the three knobs."""
        return self.pool_size, self.oversubscribe, self.timer_interval_ms

    @property
    def in_words(self) -> str:
        """The direction as tables have it."""
        if self.verdict != "change":
            return self.verdict
        stated = zip(("size", "oversubscribe", "stall limit"), self.directions, strict=True)
        return " or ".join(f"{knob} {direction}" for knob, direction in stated if direction != "any")

    @property
    def in_short(self) -> str:
        """The direction in two words, as narrow tables have it."""
        if self.verdict != "change":
            return self.verdict
        return "fewer threads" if self.pool_size == "down" else "more threads"

    def agrees(self, chosen: Core, default: Core) -> bool:
        """Whether a tuple goes where it should: a knob that is named moved its way, and none moved against it.

        Without a change to make, the tuple should be the default.
        """
        if self.verdict != "change":
            return chosen == default
        moves = [
            (new > old) - (new < old) if direction == "up" else (new < old) - (new > old)
            for new, old, direction in zip(chosen, default, self.directions, strict=True)
            if direction != "any"
        ]
        return max(moves) > 0 and min(moves) >= 0

    def as_dict(self) -> Mapping[str, Any]:
        """The fields, fit for JSON."""
        return asdict(self)
