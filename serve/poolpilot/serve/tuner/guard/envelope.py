"""What may be set at all: the operator's ranges, the server's, and at most a step from what was verified."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from poolpilot.env.knobs import CORE_KNOBS, NOT_VARIED, KnobSpace, step_reach
from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.tuner.guard.guard_settings import GuardSettings


@dataclass(frozen=True)
class Envelope:
    """The tuples that may be set.

    Attributes:
        ranges: Least and greatest value of each core knob; of one that the server lacks, its one value.
        factor: Most that a knob may change from a verified value.
        most_threads: Threads that a tuple may ask for.
        lacking: Core knobs that the server lacks; a step leaves them as they are, whatever that is.
    """

    ranges: tuple[tuple[int, int], ...]
    factor: float
    most_threads: int | None
    lacking: frozenset[str] = frozenset()

    @classmethod
    def of(cls, guard: GuardSettings, knobs: KnobSpace, most_threads: int | None = None) -> Self:
        """What both the operator and the server allow.

        Args:
            guard: What the operator allows.
            knobs: What the server takes.
            most_threads: Threads that the server's own limit leaves to the pool.

        Raises:
            SettingError: They have no value of a knob in common.
        """
        asked = (
            (guard.least_size, guard.most_size),
            (1, guard.most_oversubscribe),
            (guard.least_stall_limit_ms, guard.most_stall_limit_ms),
        )
        ranges = tuple(_both(name, span, knobs) for name, span in zip(CORE_KNOBS, asked, strict=True))
        limits = [limit for limit in (guard.most_threads, most_threads) if limit is not None]
        return cls(ranges, guard.factor, min(limits, default=None), frozenset(CORE_KNOBS).difference(knobs.knobs))

    def for_proposals(self, knobs: KnobSpace, incumbent: PoolTuple) -> KnobSpace:
        """The knobs of a server for who proposes: a tuple that no step leads towards would keep others out."""
        return replace(knobs, permits=partial(self._leads_towards, incumbent))

    def step(self, incumbent: PoolTuple, wanted: PoolTuple) -> PoolTuple:
        """The tuple nearest to `wanted` that may be set from a verified one; that one itself where there is none."""
        values = []
        for (low, high), goal in zip(self._reaches(incumbent), wanted.core, strict=True):
            if low > high:
                return incumbent
            values.append(min(max(goal, low), high))
        size, oversubscribe, timer_interval_ms = values
        stepped = incumbent.with_core((size, oversubscribe, timer_interval_ms))
        return stepped if self.has_threads_for(stepped) else incumbent

    def steps_between(self, incumbent: PoolTuple, wanted: PoolTuple) -> int:
        """How many steps lead from a verified tuple to `wanted`, whether they may be taken or not; at least one."""
        values = zip(CORE_KNOBS, incumbent.core, wanted.core, strict=True)
        ratios = (abs(math.log(max(goal, 1) / now)) for name, now, goal in values if name not in self.lacking)
        return max(math.ceil(max(ratios) / math.log(self.factor) - 1e-9), 1)

    def check(self, incumbent: PoolTuple, candidate: PoolTuple) -> None:
        """Refuses a tuple that may not be set from a verified one; going back to that one is always allowed.

        Raises:
            SettingError: The text names the knob and its range.
        """
        if candidate == incumbent:
            return
        reaches = self._reaches(incumbent)
        for name, value, (low, high), span in zip(CORE_KNOBS, candidate.core, reaches, self.ranges, strict=True):
            if not low <= value <= high:
                raise SettingError(
                    f"{name} = {value} may not be tried from {incumbent}: allowed are {low}..{high}, a factor of "
                    f"{self.factor:g} at most and within {span[0]}..{span[1]}"
                )
        if candidate.with_core(incumbent.core) != incumbent:
            raise SettingError(f"{candidate} differs from {incumbent} in more than the core knobs")
        if not self.has_threads_for(candidate):
            raise SettingError(
                f"{candidate} may ask for {candidate.active_threads} threads; allowed are {self.most_threads}"
            )

    def allows(self, pool_tuple: PoolTuple) -> bool:
        """Whether a tuple that was verified earlier lies within the ranges and threads of today, however far off."""
        spans = zip(pool_tuple.core, self.ranges, strict=True)
        return all(low <= value <= high for value, (low, high) in spans) and self.has_threads_for(pool_tuple)

    def has_threads_for(self, pool_tuple: PoolTuple) -> bool:
        """Whether a tuple asks for no more threads at worst than it may."""
        return self.most_threads is None or pool_tuple.active_threads <= self.most_threads

    def _leads_towards(self, incumbent: PoolTuple, wanted: PoolTuple) -> bool:
        return wanted.core == incumbent.core or self.step(incumbent, wanted) != incumbent

    def _reaches(self, incumbent: PoolTuple) -> list[tuple[int, int]]:
        """How far each core knob may go from a verified tuple."""
        known = zip(CORE_KNOBS, incumbent.core, self.ranges, strict=True)
        return [(now, now) if name in self.lacking else self._reach(now, span) for name, now, span in known]

    def _reach(self, now: int, span: tuple[int, int]) -> tuple[int, int]:
        down, up = step_reach(now, self.factor)
        return max(down, span[0]), min(up, span[1])


def _both(name: str, asked: tuple[int, int], knobs: KnobSpace) -> tuple[int, int]:
    if (knob := knobs.knobs.get(name)) is None:
        return NOT_VARIED[name], NOT_VARIED[name]
    taken = (math.ceil(knob.low), math.floor(knob.high))
    low, high = max(asked[0], taken[0]), min(asked[1], taken[1])
    if low > high:
        raise SettingError(
            f"{name} may be {asked[0]}..{asked[1]} by the settings, but the server takes {taken[0]}..{taken[1]}"
        )
    return low, high
