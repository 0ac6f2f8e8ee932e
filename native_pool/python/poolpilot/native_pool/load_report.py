"""What the load generator reports: cumulative counts and latencies per request class."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from statistics import fmean
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.native_pool._core import LoadGenerator


def counts_of(pairs: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """Counts of all buckets from the (bucket, count) pairs of those that are not empty."""
    counts = np.zeros(LoadGenerator.BUCKETS, dtype=np.int64)
    for bucket, count in pairs:
        counts[bucket] = count
    return counts


@dataclass(frozen=True, slots=True)
class ClassReport:
    """What the requests of one class met, cumulative since the start.

    Attributes:
        sent: Requests sent.
        completed: Requests answered with status ok.
        failed: Requests answered with another status.
        refused: Requests answered that too many wait for admission: nothing of them was run.
        lost: Requests never answered: the connection ended or the drain timed out.
        undelivered: Of these, what the server's system never had: the connection was not made, or the server had shut
            it when the request came.
        latency_counts: Completed requests by bucket of latency in microseconds, shape (BUCKETS,), the buckets of
            `featurizer.histogram`; from send, in an open loop from the scheduled arrival, to the response.
        latency_total_us: Sum of those latencies.
        latency_total_squares_us: Sum of their squares.
    """

    sent: int
    completed: int
    failed: int
    refused: int
    lost: int
    undelivered: int
    latency_counts: NDArray[np.int64]
    latency_total_us: float
    latency_total_squares_us: float

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuilds it from the process's JSON, whose latencies are (bucket, count) pairs."""
        return cls(**{**values, "latency_counts": counts_of(values["latency_counts"])})

    def __add__(self, other: Self) -> Self:
        """What both met together."""
        names = (one.name for one in fields(self))
        return type(self)(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, slots=True)
class LoopTimes:
    """What the loop of one load process had of a processor since it began.

    Attributes:
        wall_s: How long it has run.
        cpu_s: Its time on a processor.
        waited_s: Time in which it could run but had no processor; 0 where the system does not tell.
    """

    wall_s: float
    cpu_s: float
    waited_s: float

    @property
    def busy_share(self) -> float:
        """Share of its time in which it had work to do."""
        return (self.cpu_s + self.waited_s) / self.wall_s if self.wall_s > 0.0 else 0.0


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load generator has counted since its start.

    After a stop `sent == completed + failed + refused + lost`, of the whole and of each class.

    Attributes:
        time_s: The host's monotonic clock, the same as the server's; of several processes their mean.
        unexpected: Responses with an id that nobody waits for (duplicates).
        backlog: Arrivals of an open loop that wait for a connection now.
        dropped: Arrivals refused because the backlog was full.
        unsent: Arrivals that still waited for a connection when the stop came; no latency tells of them.
        connections: Connections open now.
        process_cpu_s: CPU time of the load processes.
        errors: Connections that broke, by fault.
        classes: Reports by name of the class.
        send_delay_counts: Requests that had a time of their own (of an open loop, or after a pause), by bucket of the
            microseconds from that time to when the generator turned to them, shape (BUCKETS,).
        send_delay_total_us: Sum of those delays.
        loops: What the loop of each process had of a processor.
        warning: A sentence where the generator was the bottleneck of what it measured.
    """

    time_s: float
    unexpected: int
    backlog: int
    dropped: int
    unsent: int
    connections: int
    process_cpu_s: float
    errors: Mapping[str, int]
    classes: Mapping[str, ClassReport]
    send_delay_counts: NDArray[np.int64]
    send_delay_total_us: float
    loops: tuple[LoopTimes, ...]
    warning: str | None = None

    @property
    def sent(self) -> int:
        """Requests sent, of all classes."""
        return sum(one.sent for one in self.classes.values())

    @property
    def completed(self) -> int:
        """Requests answered with status ok, of all classes."""
        return sum(one.completed for one in self.classes.values())

    @property
    def failed(self) -> int:
        """Requests answered with another status, of all classes."""
        return sum(one.failed for one in self.classes.values())

    @property
    def refused(self) -> int:
        """Requests refused because too many wait for admission, of all classes."""
        return sum(one.refused for one in self.classes.values())

    @property
    def lost(self) -> int:
        """Requests never answered, of all classes."""
        return sum(one.lost for one in self.classes.values())

    @property
    def undelivered(self) -> int:
        """Requests that never reached the server's system, of all classes."""
        return sum(one.undelivered for one in self.classes.values())

    def share_later_than(self, limit_ms: float) -> float:
        """Share of the requests with a time of their own that the generator turned to later than that after it."""
        due = int(self.send_delay_counts.sum())
        late = int(self.send_delay_counts[LoadGenerator.bucket_of(int(limit_ms * 1e3)) + 1 :].sum())
        return late / due if due else 0.0

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuilds it from the process's JSON."""
        own = dict(values)
        own["classes"] = {name: ClassReport.from_dict(one) for name, one in values["classes"].items()}
        own["send_delay_counts"] = counts_of(values["send_delay_counts"])
        own["loops"] = (LoopTimes(**own.pop("loop")),)
        return cls(**own)

    @classmethod
    def merged(cls, reports: Sequence[Self]) -> Self:
        """One report of processes that send the parts of one workload."""
        errors: Counter[str] = Counter()
        for one in reports:
            errors.update(one.errors)
        return cls(
            time_s=fmean(one.time_s for one in reports),
            unexpected=sum(one.unexpected for one in reports),
            backlog=sum(one.backlog for one in reports),
            dropped=sum(one.dropped for one in reports),
            unsent=sum(one.unsent for one in reports),
            connections=sum(one.connections for one in reports),
            process_cpu_s=sum(one.process_cpu_s for one in reports),
            errors=dict(errors),
            classes={name: reduce(add, (one.classes[name] for one in reports)) for name in reports[0].classes},
            send_delay_counts=reduce(add, (one.send_delay_counts for one in reports)),
            send_delay_total_us=sum(one.send_delay_total_us for one in reports),
            loops=tuple(loop for one in reports for loop in one.loops),
        )
