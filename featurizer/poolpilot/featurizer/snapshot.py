"""A snapshot: what a server has counted since it started, at one instant, and what went on beside."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

from poolpilot.featurizer.histogram import Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple

LATENCY_PREFIX = "latency_us/"
"""Histograms named LATENCY_PREFIX + class hold the latency of that class, from send to completion."""

ServerKind = Literal["native", "simulated", "mariadb", "curve", "other"]
"""What counted: the embedded pool, its simulator, a MariaDB server, a curve of throughputs, or one's own server."""

SERVER_KINDS: tuple[ServerKind, ...] = get_args(ServerKind)


def server_kind_of(label: str) -> ServerKind:
    """The kind that a label of a record names; `other` where it names none."""
    return next((kind for kind in SERVER_KINDS if kind == label), "other")


class HindranceKind(StrEnum):
    """What a hindrance comes of."""

    BESIDE = "beside"
    """It goes on beside the pool: no trial can have brought it about."""

    STUCK = "stuck"
    """The pool itself serves nobody, which a trial may have brought about."""


@dataclass(frozen=True, slots=True)
class Hindrance:
    """A reason to leave a pool alone for now.

    Attributes:
        text: It, as a sentence.
        kind: What it comes of; programs decide by this and never by the sentence.

    Examples:
        >>> backup = Hindrance("a backup runs")
        >>> str(backup), backup.kind.value
        ('a backup runs', 'beside')
    """

    text: str
    kind: HindranceKind = HindranceKind.BESIDE

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Cumulative counters of a server; the difference of two is a window.

    Names that a server cannot give are absent, never zero: absence is what the missing-mask is made of. The names that
    features are computed from are listed in `poolpilot.featurizer.measures`. A climb or a search needs two of them: the
    gauge `connections` (clients) and the requests answered since the start, either as the counter `completed` or as
    histograms `latency_us/<class>`. The counter `in_system_us`, the time integral of the requests that run or wait, is
    what a latency is computed from where there are no such histograms.

    Attributes:
        time_s: The server's monotonic clock.
        tuple_epoch: Rises by one with every change of the tuple.
        pool_tuple: The tuple in force, as read from the server.
        counters: Monotonic counters by name; names ending in `_us` are integrals of time.
        gauges: Values at this instant (connections, cpus, threads, ...).
        histograms: Cumulative histograms by name, in microseconds unless the name says otherwise.
        server_kind: What counted.
        disturbances: What went on beside the workload when that was last seen: a backup, an ALTER TABLE.
        disturbed_s: When that was, by the server's clock; None where it never was, or nobody looked.

    Examples:
        >>> gauges = {"connections": 64.0, "cpus": 4.0}
        >>> Snapshot(12.5, 0, PoolTuple(4, 3, 500), {"completed": 9000.0}, gauges, {}, "other").counters["completed"]
        9000.0
    """

    time_s: float
    tuple_epoch: int
    pool_tuple: PoolTuple
    counters: Mapping[str, float]
    gauges: Mapping[str, float]
    histograms: Mapping[str, Histogram]
    server_kind: ServerKind = "other"
    disturbances: tuple[Hindrance, ...] = ()
    disturbed_s: float | None = None
