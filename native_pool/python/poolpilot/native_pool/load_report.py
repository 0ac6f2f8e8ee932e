"""What the load generator reports: cumulative counts and latencies per request class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from poolpilot.native_pool._core import LoadGenerator


@dataclass(frozen=True, slots=True)
class ClassReport:
    """What the requests of one class met, cumulative since the start.

    Attributes:
        sent: Requests sent.
        completed: Requests answered with status ok.
        failed: Requests answered with another status.
        refused: Requests answered that too many wait for admission: nothing of them was run.
        lost: Requests never answered: the connection ended or the drain timed out.
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
    latency_counts: NDArray[np.int64]
    latency_total_us: float
    latency_total_squares_us: float

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuilds it from the process's JSON, whose latencies are (bucket, count) pairs."""
        counts = np.zeros(LoadGenerator.BUCKETS, dtype=np.int64)
        for bucket, count in values["latency_counts"]:
            counts[bucket] = count
        return cls(**{**values, "latency_counts": counts})


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load generator has counted since its start.

    After a stop `sent == completed + failed + refused + lost`, of the whole and of each class.

    Attributes:
        time_s: The host's monotonic clock, the same as the server's.
        unexpected: Responses with an id that nobody waits for (duplicates).
        backlog: Arrivals of an open loop that wait for a connection now.
        dropped: Arrivals refused because the backlog was full.
        connections: Connections open now.
        process_cpu_s: CPU time of the load process.
        errors: Connections that broke, by fault.
        classes: Reports by name of the class.
    """

    time_s: float
    unexpected: int
    backlog: int
    dropped: int
    connections: int
    process_cpu_s: float
    errors: Mapping[str, int]
    classes: Mapping[str, ClassReport]

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

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Rebuilds it from the process's JSON."""
        classes = {name: ClassReport.from_dict(one) for name, one in values["classes"].items()}
        return cls(**{**values, "classes": classes})
