"""The objective J: what a window under a tuple is worth, constraints first."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from poolpilot.env.floors import KeptFloor
from poolpilot.errors import SettingError
from poolpilot.featurizer.catalogue import ROWS_READ_PER_S
from poolpilot.featurizer.histogram import MIDDLES, Histogram
from poolpilot.featurizer.window import ClassWindow, Window

if TYPE_CHECKING:
    from poolpilot.native_pool.workload import RequestClass


MOST_ABOVE = 700.0
"""Most that ln goodput is said to lie above another; exp of more than 709 is no number."""

LARGEST = 1e9
"""Largest number of an objective: beyond it sums and products of them are no longer finite."""

Positive = Annotated[float, Field(gt=0.0, le=LARGEST, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0.0, le=LARGEST, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


LEAST_IN_SYSTEM = 0.1
"""Requests in the system on average below which a few readings a second cannot tell how many there are; fewer count as
so many, so that a window in which no reading met one does not pass for a thousand times better."""

STEEPNESS = 2.0
"""A request that takes so many times its target counts as that number to the minus this, where none is in time."""

LEAST_LATE_PER_S, MOST_LATE_PER_S = 1e-3, 1e5
"""Late requests, so counted, between which the slope rises."""

LATE_RANGE = math.log1p(MOST_LATE_PER_S / LEAST_LATE_PER_S)

MOST_SLOPE_PER_S = 1.0
"""Goodput that no number of late requests is worth: whatever has more in time is better."""

ROWS = "rows read"
"""What has a floor where no class is known: a long statement reads most of the rows, whoever sends it."""

LONG_ROWS = 100.0
"""Rows read for each statement, on average, from which on long ones are there: reading so many takes about as long as
answering a point select."""

LEAST_ROWS_SHARE = 0.3
"""Share of the rows that must go on being read unless somebody says another one."""

CLEAR_REQUESTS = 6.0
"""Requests in time that are no chance, however many others are late."""


class Objective(BaseModel):
    """J = ln(goodput) - price_of_thread * ln(pool_size), where goodput is what arrives within its target.

    Where next to nothing is in time, late requests give J a slope (`worth_per_s`): more of them and sooner is better.

    Examples:
        >>> from poolpilot.env import CurveServer, observe
        >>> window = observe(CurveServer([(1, 100), (16, 1600)], connections=64), 10.0).window
        >>> window.throughput_per_s, round(window.p99_ms)  # a closed loop of 64: 64 / 400 s = 160 ms
        (400.0, 164)
        >>> Objective().goodput_per_s(window), Objective(targets_ms={"all": 100.0}).goodput_per_s(window)
        (400.0, 0.1)
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    targets_ms: dict[str, Positive] = Field(
        default={}, description="Latency target of a class in milliseconds; without one every completion counts."
    )
    weights: dict[str, NotNegative] = Field(default={}, description="Weight of a class in the goodput; 1 if not named.")
    price_of_thread: NotNegative = Field(
        default=0.02, description="Per cent of goodput that one per cent more thread groups must buy."
    )
    min_share: dict[str, Share] = Field(
        default={}, description="Share of its throughput under the reference that a class must keep."
    )
    min_rows_share: Share = Field(
        default=LEAST_ROWS_SHARE,
        description="Share of the rows read a second under the reference that must go on being read, where a server "
        "shows them and no client reports: what is left to long statements. 0 for no such floor.",
    )
    floor_errors: NotNegative = Field(
        default=1.0,
        description="Standard errors, by counting, that a class must be above its floor under a configuration that is "
        "kept.",
    )
    max_p99_ms: dict[str, Positive] = Field(
        default={}, description="Limit on the 99th percentile of a class's latency in milliseconds."
    )
    signal: Literal["throughput", "time_in_system"] = Field(
        default="throughput",
        description="What stands for goodput where no client reports: throughput, which a server that is not saturated "
        "has whatever its configuration, or the inverse of the mean time in the system by Little's law.",
    )
    goodput_floor_per_s: Positive = Field(
        default=0.1, description="Goodput below this counts as this, so that the logarithm exists."
    )

    @classmethod
    def of_classes(cls, classes: Iterable["RequestClass"]) -> Self:
        """The objective that the targets and weights of a workload's classes state.

        Raises:
            SettingError: A target or a weight is outside its range.
        """
        listed = tuple(classes)
        targets_ms = {one.name: one.target_ms for one in listed if one.target_ms is not None}
        try:
            return cls(targets_ms=targets_ms, weights={one.name: one.weight for one in listed})
        except ValidationError as error:
            first = error.errors()[0]
            kind = "target_ms" if first["loc"][0] == "targets_ms" else "weight"
            reason = first["msg"].removeprefix("Input ")
            raise SettingError(f"{kind} of the class {first['loc'][1]!r} {reason}; it is {first['input']!r}") from error

    def goodput_per_s(self, window: Window) -> float:
        """Weighted completions a second within their class's target, floored.

        On a server that does not know classes it is the plain throughput or, where that is asked for, the inverse of
        the mean time in the system: in a closed loop without pauses the two differ by a constant factor.
        """
        if window.in_system is not None and self.goes_by_time(window):
            least_inside = LEAST_IN_SYSTEM if window.throughput_per_s > 0.0 else 1.0  # nobody inside: nobody asks
            completed_per_s = max(window.throughput_per_s, self.goodput_floor_per_s)
            return completed_per_s / max(window.in_system, least_inside)
        total = sum(
            self.weights.get(name, 1.0) * self._within_target_per_s(name, of_class, window.duration_s)
            for name, of_class in window.classes.items()
        )
        return max(total if window.classes else window.throughput_per_s, self.goodput_floor_per_s)

    def goes_by_time(self, window: Window) -> bool:
        """Whether the goodput of a window is the inverse of the mean time that requests spend in the system."""
        return self.signal == "time_in_system" and not window.classes and window.in_system is not None

    def worth_per_s(self, window: Window) -> float:
        """What is climbed on, and whose logarithm J has: the goodput where there is some, else a slope towards it.

        As soon as `CLEAR_REQUESTS` are in time, or all are, it is the goodput. Where none is, it is worth less than
        `MOST_SLOPE_PER_S`, and the more the more requests end and the less late they are. Between the two it passes
        over smoothly, so that one request in time of many, which may be chance, makes no optimum.
        """
        goodput_per_s = self.goodput_per_s(window)
        completed_per_s, in_time_per_s = window.throughput_per_s, self.in_time_per_s(window)
        if not window.classes or in_time_per_s >= completed_per_s:
            return goodput_per_s
        clear = min(in_time_per_s * window.duration_s / CLEAR_REQUESTS + in_time_per_s / completed_per_s, 1.0)
        slope_per_s = self._slope_per_s(window)
        return float(slope_per_s ** (1.0 - clear) * max(goodput_per_s, slope_per_s) ** clear)

    def _slope_per_s(self, window: Window) -> float:
        """From the floor of goodput without any request up to `MOST_SLOPE_PER_S`, evenly in the logarithm."""
        late_per_s = sum(
            self.weights.get(name, 1.0)
            * _earliness(of_class.latency, self.targets_ms[name] * 1000.0)
            / window.duration_s
            for name, of_class in window.classes.items()
            if name in self.targets_ms
        )
        height = min(math.log1p(late_per_s / LEAST_LATE_PER_S) / LATE_RANGE, 1.0)
        return float(self.goodput_floor_per_s * max(MOST_SLOPE_PER_S / self.goodput_floor_per_s, 1.0) ** height)

    def in_time_per_s(self, window: Window) -> float:
        """Completions a second within their class's target, whatever they weigh; all of them without classes."""
        if not window.classes:
            return window.throughput_per_s
        return sum(self._within_target_per_s(name, each, window.duration_s) for name, each in window.classes.items())

    def share_within_target(self, window: Window) -> float:
        """Goodput over the weighted throughput, 0..1; 0 when nothing completed, 1 without classes."""
        if not window.classes:
            return 1.0
        total = sum(
            self.weights.get(name, 1.0) * of_class.throughput_per_s for name, of_class in window.classes.items()
        )
        return min(self.goodput_per_s(window) / total, 1.0) if total > 0.0 else 0.0

    def _within_target_per_s(self, name: str, of_class: ClassWindow, duration_s: float) -> float:
        target_ms = self.targets_ms.get(name)
        if target_ms is None:
            return of_class.throughput_per_s
        return of_class.latency.count_below(target_ms * 1000.0) / duration_s

    def error(self, window: Window) -> float:
        """Standard error of J by counting alone, had the completions of every class come as a Poisson process.

        A few heavy completions make a window noisy, however many light ones there are. One is added to every count,
        since a class that completed nothing is not known to complete nothing.
        """
        seconds = window.duration_s
        counted = [
            (self.weights.get(name, 1.0), self._within_target_per_s(name, of_class, seconds) * seconds + 1.0)
            for name, of_class in window.classes.items()
        ] or [(1.0, window.throughput_per_s * seconds + 1.0)]
        total = sum(weight * count for weight, count in counted)
        return math.sqrt(sum(weight**2 * count for weight, count in counted)) / max(
            total, self.goodput_floor_per_s * seconds
        )

    def value(self, window: Window) -> float:
        """J of a window under the tuple it was measured under."""
        return math.log(self.worth_per_s(window)) - self.price_of_thread * math.log(window.pool_tuple.pool_size)

    def floors(self, reference: Window) -> dict[str, float]:
        """Share that each class must keep of what it has under the reference.

        Of `ROWS` where no class is known and statements read so many that long ones are among them.
        """
        if reference.classes:
            has = {name for name, of_class in reference.classes.items() if of_class.throughput_per_s > 0.0}
            return {name: share for name, share in self.min_share.items() if name in has and share > 0.0}
        reads = reference.indicators.get(ROWS_READ_PER_S, 0.0)
        long_ones = reads > 0.0 and reads >= LONG_ROWS * reference.throughput_per_s
        return {ROWS: self.min_rows_share} if long_ones and self.min_rows_share > 0.0 else {}

    def kept_floors(self, window: Window, reference: Window) -> dict[str, KeptFloor]:
        """What a window leaves of each floor, by name; its noise is that of counting completions, and none of rows."""
        return {name: self._kept(name, floor, window, reference) for name, floor in self.floors(reference).items()}

    def broken_floors(self, window: Window, reference: Window) -> tuple[KeptFloor, ...]:
        """The floors for which a window may not be kept, that of which most is lacking first."""
        if self.may_be_kept(window, reference):
            return ()
        kept = self.kept_floors(window, reference).values()
        return tuple(sorted((one for one in kept if not one.stands(self.floor_errors)), key=lambda one: one.left))

    def _kept(self, name: str, floor: float, window: Window, reference: Window) -> KeptFloor:
        if not reference.classes:
            before = reference.indicators[ROWS_READ_PER_S]
            return KeptFloor(name, floor, window.indicators.get(ROWS_READ_PER_S, before) / before, 0.0, of_class=False)
        before = reference.classes[name].throughput_per_s
        now = window.classes[name].throughput_per_s if name in window.classes else 0.0
        counts = (now * window.duration_s + 1.0, before * reference.duration_s + 1.0)
        noise = math.sqrt(sum(1.0 / count for count in counts))
        return KeptFloor(name, floor, now / before, noise, expected=floor * before * window.duration_s)

    def kept_limits(self, window: Window, reference: Window) -> dict[str, float]:
        """What a window keeps of each floor and limit, over what it must: below 1 it is broken by that factor.

        A class that completed nothing tells nothing of its latency, and one that is early makes up for no other window.
        """
        floors = self.kept_floors(window, reference)
        kept = {f"share of {name}": each.left for name, each in floors.items()}
        for name, limit_ms in self.max_p99_ms.items():
            if name in window.classes and window.classes[name].throughput_per_s > 0.0:
                p99_ms = window.classes[name].latency.quantile(0.99) / 1000.0
                kept[f"p99 of {name}"] = limit_ms / max(p99_ms, limit_ms)
        return kept

    def feasible(self, window: Window, reference: Window | None = None, errors: float = 0.0) -> bool:
        """Whether the window keeps the constraints.

        Args:
            window: The window judged.
            reference: What the classes had before; without it floors are not checked.
            errors: Standard errors that a share must be above its floor.
        """
        late = any(
            name in window.classes and window.classes[name].latency.quantile(0.99) > limit_ms * 1000.0
            for name, limit_ms in self.max_p99_ms.items()
        )
        if late or reference is None:
            return not late
        return all(each.stands(errors) for each in self.kept_floors(window, reference).values())

    def may_be_kept(self, window: Window, reference: Window) -> bool:
        """Whether a configuration may be ended on: it keeps all floors beyond doubt (`floor_errors`), or was there."""
        errors = 0.0 if window.pool_tuple == reference.pool_tuple else self.floor_errors
        return self.feasible(window, reference, errors)

    def best(self, windows: Sequence[Window]) -> Window:
        """The window of the configuration to end on: of those that may be kept the one of the highest J.

        Where none may be, as where the first breaks a limit, one that keeps floors and limits by its share comes first.
        Where that is the first, and others that are better keep all floors but not beyond doubt, it is that of them
        which is furthest above its floors in errors: few completions leave every one in doubt.

        Args:
            windows: What was measured; the first is the reference.
        """
        first = windows[0]
        surest = max(
            windows,
            key=lambda window: (self.may_be_kept(window, first), self.feasible(window, first), self.value(window)),
        )
        if surest.pool_tuple != first.pool_tuple or not self.feasible(first, first):
            return surest
        doubtful = [one for one in windows if self.feasible(one, first) and self.value(one) > self.value(surest)]
        return max(doubtful, key=lambda window: self._headroom(window, first), default=surest)

    def _headroom(self, window: Window, reference: Window) -> float:
        """How far a window is above the floor that it is nearest to, in standard errors."""
        return min((each.headroom for each in self.kept_floors(window, reference).values()), default=math.inf)

    def better(self, first: Window, second: Window, reference: Window | None = None) -> bool:
        """Whether the first window beats the second: feasible beats infeasible, then J decides."""
        return (self.feasible(first, reference), self.value(first)) > (
            self.feasible(second, reference),
            self.value(second),
        )


def _earliness(latency: Histogram, target_us: float) -> float:
    """Requests of a histogram, each by how little it is late; one in time counts whole."""
    return float(latency.counts @ (target_us / np.maximum(MIDDLES, target_us)) ** STEEPNESS)


def regret(value: float, oracle_value: float) -> float:
    """Share of the oracle's worth that is lost: 1 - exp(J - J of the oracle); negative only by noise.

    Examples:
        >>> round(regret(value=math.log(90.0), oracle_value=math.log(100.0)), 3)
        0.1
    """
    return 1.0 - math.exp(min(value - oracle_value, MOST_ABOVE))
