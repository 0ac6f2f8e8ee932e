"""A controller of the admission limit: tells a climber what a limit gave, and sets the limit it asks for.

The limiters of the field compare the latency *inside*, without the wait for a place. Both numbers they need follow from
one counter: `admission_inside_us` integrates those inside over time, so its rise over the window is their mean number,
and over those let in it is how long each stayed (Little's law).
"""

from dataclasses import dataclass
from typing import Any, Protocol

from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.native_pool import Climber


class LimitedServer(Protocol):
    """A pool server whose admission limit can be set."""

    def set_knobs(self, *, admission_limit: int) -> dict[str, Any]:
        """Puts a limit in force."""

    def snapshot(self) -> Snapshot:
        """What it has counted since it started."""

    def run_for(self, seconds: float) -> None:
        """Lets time pass."""


@dataclass(frozen=True, slots=True)
class LimitSample:
    """What a limit gave over an interval.

    Attributes:
        limit: The limit in force.
        duration_s: Length of the interval.
        throughput_per_s: Requests completed per second.
        inside: Mean number of transactions inside.
        latency_s: Mean time of a transaction inside; 0 where none was let in.
        connections: Open connections at its end.
    """

    limit: int
    duration_s: float
    throughput_per_s: float
    inside: float
    latency_s: float
    connections: float

    @classmethod
    def between(cls, before: Snapshot, after: Snapshot) -> "LimitSample":
        """The interval between two snapshots."""

        def rise(name: str) -> float:
            return after.counters[name] - before.counters[name]

        duration_s = after.time_s - before.time_s
        admitted = rise("admission_admitted")
        return cls(
            limit=int(after.gauges["admission_limit"]),
            duration_s=duration_s,
            throughput_per_s=rise("completed") / duration_s,
            inside=rise("admission_inside_us") / 1e6 / duration_s,
            latency_s=rise("admission_inside_us") / 1e6 / admitted if admitted else 0.0,
            connections=after.gauges["connections"],
        )


def control(
    server: LimitedServer, climber: Climber, intervals: int, interval_s: float | None = None
) -> list[LimitSample]:
    """Sets the climber's limits on a server, interval after interval.

    Args:
        server: The server; the climber's last limit stays in force.
        climber: Any climber; its size is the limit.
        intervals: How many samples it gets.
        interval_s: Length of each; as the climber asks for if None, and a second where it does not ask.

    Returns:
        The samples, in order.
    """
    samples = []
    server.set_knobs(admission_limit=climber.size)
    before = server.snapshot()
    for _ in range(intervals):
        server.run_for(interval_s or climber.period_s or 1.0)
        after = server.snapshot()
        sample = LimitSample.between(before, after)
        samples.append(sample)
        climber.update(
            sample.throughput_per_s,
            sample.connections,
            sample.latency_s,
            sample.limit,
            sample.duration_s,
            sample.inside,
        )
        server.set_knobs(admission_limit=climber.size)
        before = after
    return samples
