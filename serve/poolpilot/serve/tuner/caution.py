"""What a tuner that is started again goes on to be wary of: what it has tried, rolled back and refused lately.

A tuner that dies is started again by its supervisor, and would do once more what it died of. Times are those of the
wall clock, since no other outlives a process; where somebody has set that back, nothing lasts longer than the settings
say. A stand-down is not kept: who starts a tuner again ends it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings
from poolpilot.serve.tuner.known.kept_file import KeptFile
from poolpilot.serve.tuner.machine.decision import State
from poolpilot.serve.tuner.machine.memory import Memory, Refusal
from poolpilot.serve.tuner.older_names import MEMORY, named_as_now

KEPT_NAME = "caution.json"
MOST_KEPT = 256
"""Refusals, tries and roll-backs that are kept, of each the latest."""

UnixTime = Annotated[float, Field(allow_inf_nan=False)]


class Caution(BaseModel):
    """What is kept of what a tuner remembers; times in seconds of the wall clock.

    Attributes:
        trying: The tuple that is being tried: it is refused where no end of that is known.
        refusals: What is not to be tried again before a time; what the end of a workload would allow is left out.
        trials_s: When trials began, within the last hour.
        roll_backs_s: When trials were rolled back, within the last hour.
        openings: How often the circuit was opened since a trial was shown to be better.
        open_until_s: Until when it is open; None where it is not.
        half_open_until_s: See `Memory`.
        opened_again: See `Memory`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _named_as_now(cls, values: Any) -> Any:
        return named_as_now(values, MEMORY)

    trying: PoolTuple | None = None
    refusals: tuple[Refusal, ...] = Field(default=(), max_length=MOST_KEPT)
    trials_s: tuple[UnixTime, ...] = Field(default=(), max_length=MOST_KEPT)
    roll_backs_s: tuple[UnixTime, ...] = Field(default=(), max_length=MOST_KEPT)
    openings: int = Field(default=0, ge=0)
    open_until_s: UnixTime | None = None
    half_open_until_s: UnixTime | None = None
    opened_again: bool = False

    @classmethod
    def of(cls, memory: Memory, at_s: float, unix_s: float) -> "Caution":
        """What is to be kept of a memory.

        Args:
            memory: What is remembered.
            at_s: The time by the clock of the tuner.
            unix_s: The same moment by the clock of the wall.
        """
        later_s = unix_s - at_s
        lasting = [each for each in memory.refusals if each.until_s is not None]
        return cls(
            trying=None if memory.trial is None else memory.trial.candidate,
            refusals=tuple(_until(each, _later(each.until_s, later_s)) for each in lasting[-MOST_KEPT:]),
            trials_s=tuple(each + later_s for each in memory.trials_s[-MOST_KEPT:]),
            roll_backs_s=tuple(each + later_s for each in memory.roll_backs_s[-MOST_KEPT:]),
            openings=memory.openings,
            open_until_s=_later(memory.circuit_open_until_s(at_s), later_s),
            half_open_until_s=_later(memory.half_open_until_s, later_s),
            opened_again=memory.opened_again,
        )

    def onto(self, memory: Memory, unix_s: float, guard: GuardSettings) -> Memory:
        """What a tuner remembers that begins with it.

        Args:
            memory: What it remembers without.
            unix_s: The clock of the wall when it begins.
            guard: How long anything lasts at most.
        """
        at_s = memory.began_s
        later_s, circuit_s = at_s - unix_s, max(guard.circuit_most_s, guard.circuit_open_s)
        refusals = [_until(each, _later(each.until_s, later_s, at_s + guard.retry_after_s)) for each in self.refusals]
        if self.trying is not None:
            ended_s = at_s + guard.retry_after_s
            refusals.append(Refusal(pool_tuple=self.trying, until_s=ended_s, whatever_runs=True))
        memory = memory.but(
            refusals=tuple(refusals),
            trials_s=_past(self.trials_s, later_s, at_s),
            roll_backs_s=_past(self.roll_backs_s, later_s, at_s),
            openings=self.openings,
            half_open_until_s=_later(self.half_open_until_s, later_s, at_s + circuit_s),
            opened_again=self.opened_again,
        ).forgotten(at_s)
        open_until_s = _later(self.open_until_s, later_s, at_s + circuit_s)
        if open_until_s is None or open_until_s <= at_s:
            return memory
        return memory.but(state=State.OPEN_CIRCUIT, paused=State.OPEN_CIRCUIT, wait_until_s=open_until_s)


class KeptCaution(KeptFile[Caution]):
    """The same in a file of a folder.

    Args:
        folder: The folder of the decisions about one server.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / KEPT_NAME, Caution, "what a tuner is wary of")
        self._last: Caution | None = None

    def keep(self, memory: Memory, at_s: float, unix_s: float) -> None:
        """Writes what is to be kept of a memory where that is not what was kept last; arguments as `Caution.of`."""
        by_its_clock = Caution.of(memory, at_s, at_s)
        if by_its_clock != self._last:
            self._last = by_its_clock
            self.write(Caution.of(memory, at_s, unix_s))


def _until(refusal: Refusal, until_s: float | None) -> Refusal:
    return refusal.model_copy(update={"until_s": until_s})


def _later(time_s: float | None, later_s: float, most_s: float | None = None) -> float | None:
    """A time by another clock, no later than another one."""
    if time_s is None:
        return None
    return time_s + later_s if most_s is None else min(time_s + later_s, most_s)


def _past(times_s: Iterable[float], later_s: float, at_s: float) -> tuple[float, ...]:
    """Times that are over, by another clock."""
    return tuple(min(each + later_s, at_s) for each in times_s)
