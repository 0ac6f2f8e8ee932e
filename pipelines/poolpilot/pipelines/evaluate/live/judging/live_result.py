"""What came out of one workload: every method's choice, with all that it is worth."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any, Self

from poolpilot.env.measurement.sweep import Core
from poolpilot.pipelines.evaluate.statistics.load_level import LoadLevel

DEFAULT, AGAIN, REFERENCE = "default", "default_again", "reference"
"""What no method chose: the default, the default scored a second time, and the best of the sweep."""


@dataclass(frozen=True)
class SweptTuple:
    """A configuration of the sweep, by the windows in which the reference was looked for.

    Attributes:
        core: The configuration.
        windows: How many windows of it were measured; the sweep drops what does badly.
        value: Their mean J.
        error: Standard error of that; None of a single window.
    """

    core: Core
    windows: int
    value: float
    error: float | None

    @classmethod
    def of(cls, core: Core, values: Sequence[float]) -> Self:
        """The mean of values of J, with its error."""
        error = stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
        return cls(core, len(values), fmean(values), error)


@dataclass(frozen=True)
class MethodRun:
    """What one method did with one workload.

    Attributes:
        method: Its name.
        chosen: Core tuple it left in force.
        value: Mean J of that in the windows of the comparison, which it did not choose by.
        error: Standard error of its difference to the reference.
        goodput_share: Its goodput over the reference's.
        in_time: Share of its requests that ended within their class's target; None where an earlier release has run it.
        p99_ms: 99th percentile of latency in milliseconds, by class.
        p99_ratio: The same over the reference's, by class.
        class_share: Requests answered a second over those under the default, by class.
        broken: Classes whose floor or limit it breaks; then it counts as no better than the default.
        threads: Threads of the pool.
        tries: Tuples measured on the way besides the first.
        on_the_way: Mean goodput of its seconds over the reference's.
        unsafe: Share of its seconds with less than 80 % of the first window's goodput; None of what had no server.
        trying_s: Seconds until it set a tuple for the last time.
        trying_regret: Mean regret of those seconds; None where it set none.
    """

    method: str
    chosen: Core
    value: float
    error: float
    goodput_share: float
    p99_ms: Mapping[str, float]
    threads: float | None
    p99_ratio: Mapping[str, float]
    class_share: Mapping[str, float]
    in_time: float | None = None
    broken: tuple[str, ...] = ()
    tries: int = 0
    on_the_way: float | None = None
    unsafe: float | None = None
    trying_s: float = 0.0
    trying_regret: float | None = None


@dataclass(frozen=True)
class LiveResult:
    """All methods on one workload.

    Attributes:
        workload: Its name.
        family: Its family.
        runs: What each method did; `default`, `default_again` and `reference` (the sweep's best) among them.
        long_classes: Classes with more than ten times the processor time or target of the shortest.
        noise: J of the default scored again minus J of the default.
        noise_error: Standard error of that.
        censored: Why the workload says nothing of the methods; None where it does.
        swept: Every configuration of the sweep; none where an earlier release has run it.
        load: How much it asks of its server under the default; None where nobody knows.
    """

    workload: str
    family: str
    runs: tuple[MethodRun, ...]
    long_classes: tuple[str, ...] = ()
    noise: float = 0.0
    noise_error: float = 0.0
    censored: str | None = None
    swept: tuple[SweptTuple, ...] = ()
    load: LoadLevel | None = None

    def run_of(self, method: str) -> MethodRun:
        """What one method did."""
        return next(run for run in self.runs if run.method == method)

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuilds a result from `as_dict`."""
        runs = tuple(
            MethodRun(**{**run, "chosen": tuple(run["chosen"]), "broken": tuple(run.get("broken", ()))})
            for run in values["runs"]
        )
        swept = tuple(SweptTuple(**{**one, "core": tuple(one["core"])}) for one in values.get("swept", ()))
        return cls(**{**values, "runs": runs, "long_classes": tuple(values["long_classes"]), "swept": swept})
