"""Workloads that were here before, and what was verified for each: what comes back need not be learned anew.

A workload is told by the ratios of its windows (`models/latent/ratios.py`), which say the same on any machine and at
any rate, under the tuple that was in force. Two windows of one workload under one tuple lie about 0.01 apart and seldom
0.15; two workloads 0.3 and more. Under another tuple the same workload looks different, so that there half the distance
is asked for. A false match costs a trial, which is rolled back as every other.
"""

import math
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.featurizer.pool_tuple import PoolTuple

MATCH = 0.15
"""Root mean square difference of ratios up to which two windows are of one workload."""

LEAST_SHARED = 4
"""Ratios that both sides must have: fewer tell nothing."""

MOST_WORKLOADS = 32
MOST_SIGHTS = 12
MOST_MISSES = 2
"""An entry whose tuple was rolled back so often since it last did well is forgotten."""

HOURS_OF_WEEK = 168
OF_ANOTHER_HOUR = 0.1
"""Share of `MATCH` that a workload of another hour of the week counts as further off: a hint and no more."""

Ratios = tuple[float | None, ...]
"""Ratios of a window in their order; None where the server does not show one."""


class WorkloadRatios(BaseModel):
    """What a workload looked like under a tuple."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pool_tuple: PoolTuple
    ratios: Ratios


class KnownWorkload(BaseModel):
    """A workload that was here before.

    Attributes:
        number: Its number among those known.
        sights: What it looked like, the latest under each tuple.
        best: The tuple that was verified for it last.
        noise: Standard deviation of ln goodput between its windows.
        hour: Hour of the week at which it was here last, by UTC.
        misses: Trials of `best` that were rolled back since it last did well.
        cpus: Processors that the server might use; None where they were not known, or nobody wrote them down.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: int
    sights: tuple[WorkloadRatios, ...]
    best: PoolTuple
    noise: float = Field(ge=0.0, allow_inf_nan=False)
    hour: int = Field(ge=0, lt=HOURS_OF_WEEK)
    misses: int = Field(default=0, ge=0)
    cpus: float | None = Field(default=None, gt=0.0, allow_inf_nan=False)

    def is_on(self, cpus: float | None) -> bool:
        """Whether it was met on a server of so many processors, for all that is known: another quota is another one."""
        return cpus is None or self.cpus is None or self.cpus == cpus

    def distance(self, sight: WorkloadRatios, hour: int) -> float:
        """How far it is from what is seen now, in ratios; infinite where nothing can be compared."""
        apart = min(abs(self.hour - hour), HOURS_OF_WEEK - abs(self.hour - hour)) / (HOURS_OF_WEEK / 2)
        nearest = min(
            (
                ratio_distance(each.ratios, sight.ratios) * (1.0 if each.pool_tuple == sight.pool_tuple else 2.0)
                for each in self.sights
            ),
            default=math.inf,
        )
        return nearest + OF_ANOTHER_HOUR * MATCH * apart


class KnownWorkloads(BaseModel):
    """The workloads that are known, the one that was here longest ago first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entries: tuple[KnownWorkload, ...] = Field(default=(), max_length=MOST_WORKLOADS)

    def match(self, sight: WorkloadRatios, hour: int, cpus: float | None = None) -> KnownWorkload | None:
        """The workload of a server of so many processors that looks most like what is seen now; None if none does."""
        near = [(each.distance(sight, hour), each.number, each) for each in self.entries if each.is_on(cpus)]
        found = min(near, default=None, key=lambda one: one[:2])
        return None if found is None or found[0] > MATCH else found[2]

    def numbered(self, number: int | None) -> KnownWorkload | None:
        """The entry of a number; None where there is none."""
        return next((each for each in self.entries if each.number == number), None)

    def filed(
        self,
        number: int | None,
        sights: Sequence[WorkloadRatios],
        best: PoolTuple,
        noise: float,
        hour: int,
        cpus: float | None = None,
    ) -> tuple["KnownWorkloads", int]:
        """With what was verified for a workload: the entry of that number, or a new one; and its number."""
        known = self.numbered(number)
        before = () if known is None else known.sights
        number = 1 + max((each.number for each in self.entries), default=0) if known is None else known.number
        entry = KnownWorkload(
            number=number, sights=_latest((*before, *sights)), best=best, noise=round(noise, 6), hour=hour, cpus=cpus
        )
        others = tuple(each for each in self.entries if each.number != number)
        return KnownWorkloads(entries=(*others, entry)[-MOST_WORKLOADS:]), number

    def missed(self, number: int) -> "KnownWorkloads":
        """After the tuple of an entry was rolled back."""
        entries = tuple(
            each.model_copy(update={"misses": each.misses + 1}) if each.number == number else each
            for each in self.entries
        )
        return KnownWorkloads(entries=tuple(each for each in entries if each.misses < MOST_MISSES))


def ratio_distance(first: Ratios, second: Ratios) -> float:
    """Root mean square difference over the ratios that both have; infinite where they share too few."""
    squares = [(one - two) ** 2 for one, two in zip(first, second, strict=False) if one is not None and two is not None]
    return math.sqrt(sum(squares) / len(squares)) if len(squares) >= LEAST_SHARED else math.inf


def sight_of(pool_tuple: PoolTuple, windows: Iterable[Ratios]) -> WorkloadRatios:
    """What the ratios of some windows under a tuple are on average."""
    return WorkloadRatios(pool_tuple=pool_tuple, ratios=mean_ratios(windows))


def mean_ratios(windows: Iterable[Ratios]) -> Ratios:
    """Each ratio on average, over the windows that show it."""
    return tuple(_mean(column) for column in zip(*windows, strict=False))


def hour_of_week(unix_s: float) -> int:
    """Hour of the week by UTC, from 0 to 167."""
    return int(unix_s // 3600.0) % HOURS_OF_WEEK


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known) / len(known), 4) if known else None


def _latest(sights: Sequence[WorkloadRatios]) -> tuple[WorkloadRatios, ...]:
    latest: dict[PoolTuple, WorkloadRatios] = {}
    for each in sights:
        latest.pop(each.pool_tuple, None)
        latest[each.pool_tuple] = each
    return tuple(latest.values())[-MOST_SIGHTS:]
