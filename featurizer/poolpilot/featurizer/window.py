"""A window: what a server did between two snapshots under one tuple; also the body of a prediction request."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Self

from poolpilot.errors import FeatureError, ServerError, TupleChangedError
from poolpilot.featurizer import untrusted
from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.measures import Measures, histogram_rise, measures_between
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.profile import WorkloadProfile, checked_features, checked_indicators
from poolpilot.featurizer.schema import SCHEMA_VERSION, indicators_of
from poolpilot.featurizer.snapshot import LATENCY_PREFIX, SERVER_KINDS, Hindrance, ServerKind, Snapshot

IN_SYSTEM = "in_system_us"
"""Counter that integrates the number of requests in the system over time, where a server has one."""

MOST_CLASSES = 64
"""Classes of a request from outside; what a load sends has no more. A pool of ours knows eight by name."""
LONGEST_CLASS_NAME = 64
LONGEST_DURATION_S = 86_400.0
SHORTEST_DURATION_S = 1e-6
MOST_PER_S = 1e9
MOST_IN_SYSTEM = 1e9

REQUIRED_FIELDS = ("schema_version", "pool_tuple", "duration_s", "features", "classes")
OPTIONAL_FIELDS = ("server_kind", "in_system", "indicators")
"""Fields that older bodies lack: without a kind a window is one of the embedded pool, which those were about."""


@dataclass(frozen=True, slots=True)
class ClassWindow:
    """One request class within a window.

    Attributes:
        throughput_per_s: Requests completed per second.
        latency: Time from the client's send to completion, in microseconds; its moments are those of the
            buckets' middles, so that buckets alone restore it.
    """

    throughput_per_s: float
    latency: Histogram

    def as_dict(self) -> dict[str, Any]:
        """Returns the class fit for JSON."""
        return {
            "throughput_per_s": self.throughput_per_s,
            "latency": [list(pair) for pair in self.latency.to_sparse()],
        }

    @classmethod
    def from_dict(cls, name: str, values: object) -> Self:
        """Checks and builds the class from parsed JSON.

        Raises:
            FeatureError: A field is missing, unknown or out of its range.
        """
        field = f"classes.{name}"
        given = untrusted.named(field, values, ("throughput_per_s", "latency"))
        throughput = untrusted.number(f"{field}.throughput_per_s", given["throughput_per_s"], 0.0, MOST_PER_S, "1/s")
        return cls(throughput, untrusted.latency(f"{field}.latency", given["latency"]))


@dataclass(frozen=True, slots=True)
class Window:
    """The difference of two snapshots of one server under one tuple.

    Attributes:
        schema_version: Version of the feature schema.
        pool_tuple: The tuple in force throughout.
        duration_s: Length of the window.
        profile: What the window says about the workload.
        classes: Request classes by name; empty where no client reported to the server.
        in_system: Mean number of requests that ran, waited or were queued, where the server counts them; no part of
            a record. (The feature of this name is derived, and missing where the server does not time its rounds.)
        server_kind: What it was measured on.
        indicators: What the server shows beside the features, by name: those that it lets compute.
        disturbances: What went on beside the workload and will not last, where somebody looked; no part
            of a record, nor of a request, since it names accounts.

    Examples:
        >>> in_force, gauges = PoolTuple(4, 3, 500), {"connections": 64.0}
        >>> before = Snapshot(10.0, 0, in_force, {"completed": 5000.0}, gauges, {})
        >>> after = Snapshot(12.0, 0, in_force, {"completed": 5600.0}, gauges, {})
        >>> window = Window.between(before, after)
        >>> window.duration_s, window.throughput_per_s
        (2.0, 300.0)
        >>> Window.from_dict(window.as_dict()) == window
        True
    """

    schema_version: int
    pool_tuple: PoolTuple
    duration_s: float
    profile: WorkloadProfile
    classes: Mapping[str, ClassWindow]
    in_system: float | None = None
    server_kind: ServerKind = "native"
    indicators: Mapping[str, float] = field(default_factory=dict)
    disturbances: tuple[Hindrance, ...] = ()

    @property
    def time_in_system_s(self) -> float | None:
        """Mean time of a request in the system by Little's law; None where the number of them is not known."""
        if self.in_system is None or self.throughput_per_s <= 0.0:
            return None
        return self.in_system / self.throughput_per_s

    @property
    def throughput_per_s(self) -> float:
        """Requests completed per second: of all classes or, where none is known, as the server counted."""
        if self.classes:
            return sum(window.throughput_per_s for window in self.classes.values())
        return self.profile.features["completed_per_s"] or 0.0

    @property
    def is_idle(self) -> bool:
        """Whether there was nothing to do: no request ended, and none stood in a queue."""
        return self.throughput_per_s <= 0.0 and not self.profile.features.get("queue_length_mean")

    @property
    def p99_ms(self) -> float | None:
        """Latency that 99 % of the requests of all classes do not exceed; None when none was seen."""
        merged = reduce(lambda left, right: left + right, (each.latency for each in self.classes.values()), Histogram())
        return merged.quantile(0.99) / 1000.0 if merged.count else None

    @property
    def threads(self) -> float | None:
        """Threads of the pool: the mean over the window or, failing that, at its end; None when unknown."""
        mean = self.profile.features["threads_mean"]
        return self.profile.features["threads"] if mean is None else mean

    @classmethod
    def pooled(cls, windows: Sequence[Self]) -> Self:
        """Several windows of one tuple as one: what was counted is added, the rest is a mean by duration.

        A feature that one of them lacks is missing; so are disturbances, which are of a moment.

        Args:
            windows: At least one; all of one tuple and one server.
        """
        if len(windows) == 1:
            return windows[0]
        first, duration_s = windows[0], sum(window.duration_s for window in windows)

        def mean(values: Iterable[float | None]) -> float | None:
            products = [
                None if value is None else value * window.duration_s
                for value, window in zip(values, windows, strict=True)
            ]
            known = [product for product in products if product is not None]
            return sum(known) / duration_s if len(known) == len(windows) else None

        features = {name: mean(window.profile.features[name] for window in windows) for name in first.profile.features}
        hidden = [window.profile.hidden for window in windows]
        indicators = {name: mean(window.indicators.get(name) for window in windows) for name in first.indicators}
        return cls(
            first.schema_version,
            first.pool_tuple,
            duration_s,
            replace(first.profile, features=features, hidden=first.profile.hidden.union(*hidden)),
            _pooled_classes(windows, duration_s),
            mean(window.in_system for window in windows),
            first.server_kind,
            {name: value for name, value in indicators.items() if value is not None},
        )

    def without_classes(self) -> Self:
        """The same window as a server sees it to whose clients nobody listens."""
        return replace(self, classes={})

    def hiding(self, features: Collection[str]) -> Self:
        """The same window for a model that is not shown some features; what the window is worth stays."""
        hidden = self.profile.hidden.union(features)
        return replace(self, profile=replace(self.profile, hidden=hidden)) if features else self

    @classmethod
    def between(cls, before: Snapshot, after: Snapshot) -> Self:
        """Takes the difference of two snapshots.

        Raises:
            TupleChangedError: The tuple changed in between.
            ServerError: Time did not advance, or the server was restarted.
        """
        return cls.with_measures(before, after)[0]

    @classmethod
    def with_measures(cls, before: Snapshot, after: Snapshot) -> tuple[Self, Measures]:
        """The window between two snapshots, and the raw measures that its profile is of; see `between`."""
        if after.tuple_epoch != before.tuple_epoch:
            raise TupleChangedError(f"somebody else has set {after.pool_tuple} while {before.pool_tuple} was measured")
        duration_s = float(after.time_s - before.time_s)
        if duration_s <= 0.0:
            raise ServerError(f"the server's clock went {duration_s:g} s between two snapshots; it must advance")
        measures = measures_between(before, after)
        profile = WorkloadProfile.from_measures(after.pool_tuple, measures)
        classes = classes_between(before.histograms, after.histograms, duration_s)
        in_system = None
        if IN_SYSTEM in before.counters and IN_SYSTEM in after.counters:
            in_system = (after.counters[IN_SYSTEM] - before.counters[IN_SYSTEM]) / duration_s / 1e6
        seen = (in_system, after.server_kind, indicators_of(measures), _disturbances(before, after))
        return cls(SCHEMA_VERSION, after.pool_tuple, duration_s, profile, classes, *seen), measures

    def as_dict(self) -> dict[str, Any]:
        """Returns the window fit for JSON: the body of a prediction request."""
        return {
            "schema_version": self.schema_version,
            "server_kind": self.server_kind,
            "pool_tuple": self.pool_tuple.as_dict(),
            "duration_s": self.duration_s,
            "features": dict(self.profile.features),
            "classes": {name: window.as_dict() for name, window in self.classes.items()},
            "in_system": self.in_system,
            **({"indicators": dict(self.indicators)} if self.indicators else {}),
        }

    @classmethod
    def from_dict(cls, values: object) -> Self:
        """Checks and builds a window from parsed JSON.

        Raises:
            FeatureError: The version differs, or a field is missing, unknown or out of its range; the error
                names the field by its path in the window and the sentence its range.
        """
        given = untrusted.named("", values, REQUIRED_FIELDS, OPTIONAL_FIELDS)
        check_version(given["schema_version"])
        pool_tuple = untrusted.pool_tuple(given["pool_tuple"])
        profile = WorkloadProfile(SCHEMA_VERSION, pool_tuple, checked_features(given["features"]))
        duration_s = untrusted.number("duration_s", given["duration_s"], SHORTEST_DURATION_S, LONGEST_DURATION_S, "s")
        classes = checked_classes(given["classes"])
        in_system = given.get("in_system")
        if in_system is not None:
            in_system = untrusted.number("in_system", in_system, 0.0, MOST_IN_SYSTEM, "requests")
        server_kind = untrusted.one_of("server_kind", given.get("server_kind", "native"), SERVER_KINDS)
        indicators = checked_indicators(given.get("indicators", {}))
        return cls(SCHEMA_VERSION, pool_tuple, duration_s, profile, classes, in_system, server_kind, indicators)


def _pooled_classes(windows: Sequence[Window], duration_s: float) -> dict[str, ClassWindow]:
    names = sorted({name for window in windows for name in window.classes})
    latencies = {
        name: reduce(
            lambda left, right: left + right,
            (window.classes[name].latency for window in windows if name in window.classes),
        )
        for name in names
    }
    completed = {
        name: sum(
            window.classes[name].throughput_per_s * window.duration_s for window in windows if name in window.classes
        )
        for name in names
    }
    return {name: ClassWindow(completed[name] / duration_s, latencies[name]) for name in names}


def _disturbances(before: Snapshot, after: Snapshot) -> tuple[Hindrance, ...]:
    """What went on between two snapshots, as it was last seen."""
    is_new = after.disturbed_s is not None and after.disturbed_s > before.time_s
    return after.disturbances if is_new else ()


def check_version(version: object) -> None:
    """Refuses a window of another version of the feature schema.

    Raises:
        FeatureError: It is of another one, or no version.
    """
    try:
        untrusted.integer("schema_version", version, SCHEMA_VERSION, SCHEMA_VERSION)
    except FeatureError as error:
        raise FeatureError(
            error.feature,
            f"{error}, the version of this release; measure again with it, or use the release that wrote it",
        ) from error


def classes_between(
    before: Mapping[str, Histogram], after: Mapping[str, Histogram], duration_s: float
) -> dict[str, ClassWindow]:
    """Request classes between the histograms of two snapshots, by name in order; one new in `after` counts whole."""
    classes = {}
    for key in sorted(name for name in after if name.startswith(LATENCY_PREFIX)):
        latency = histogram_rise(key, before.get(key, Histogram()), after[key]).binned()
        classes[key.removeprefix(LATENCY_PREFIX)] = ClassWindow(latency.count / duration_s, latency)
    return classes


def checked_classes(values: object) -> dict[str, ClassWindow]:
    """Checks and builds request classes from parsed JSON.

    Raises:
        FeatureError: There are too many, or a field of one is missing, unknown or out of its range.
    """
    given = untrusted.mapping("classes", values)
    if len(given) > MOST_CLASSES:
        raise FeatureError("classes", f"classes has {len(given)} entries; allowed are at most {MOST_CLASSES}")
    for name in given:
        if not 1 <= len(name) <= LONGEST_CLASS_NAME or not name.isprintable():
            allowed = f"1 to {LONGEST_CLASS_NAME} printable characters"
            raise FeatureError("classes", f"a class is named {untrusted.shown(name)}; allowed are {allowed}")
    return {name: ClassWindow.from_dict(name, window) for name, window in given.items()}
