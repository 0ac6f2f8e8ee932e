"""A workload: classes of requests, each a step program, and the connections that send them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

Op = Literal["cpu", "wait", "acquire", "release", "begin", "commit", "declare"]
WaitKind = Literal["sleep", "disk_io", "row_lock", "net"]
SessionPriority = Literal["auto", "high", "low"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a request.

    Attributes:
        op: What the worker does.
        us: Mean duration of a `cpu` or `wait` step in microseconds.
        variation: Coefficient of variation of that duration, drawn per request from a gamma distribution.
        kind: Reason of a wait.
        reported: Whether the pool is told of the wait (`wait_begin`, `wait_end`).
        latch: Number of the latch of an `acquire` or `release`, 0..63.
        spread: `acquire` and the `release` that follows it draw from `latch`..`latch + spread - 1` per request.
        spin_us: Microseconds an `acquire` burns CPU before it sleeps, 0..4095.
        waiter_cost_us: CPU a holder pays per thread that waits for the latch (service that degrades).
        priority: What a `declare` asks for the connection from then on, as MariaDB's `thread_pool_priority`; it also
            tells the pool that the connection sends this class.
    """

    op: Op
    us: float = 0.0
    variation: float = 0.0
    kind: WaitKind = "sleep"
    reported: bool = False
    latch: int = 0
    spread: int = 1
    spin_us: int = 0
    waiter_cost_us: float = 0.0
    priority: SessionPriority = "auto"


@dataclass(frozen=True, slots=True)
class RequestClass:
    """Requests that share a program, a share of the mix and a latency target.

    Attributes:
        name: Name of the class; its latency histogram carries it.
        steps: The program.
        share: Share of the connections (closed loop) or of the arrivals (open loop) in this class.
        target_ms: Latency within which a completion counts as goodput; None counts every completion.
        weight: Weight of a completion in the goodput.
        think_ms: Mean pause of a connection between response and next request (closed loop), exponential.
    """

    name: str
    steps: tuple[Step, ...]
    share: float = 1.0
    target_ms: float | None = None
    weight: float = 1.0
    think_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Workload:
    """What the load generator sends.

    Attributes:
        name: Unique name.
        family: Family it was drawn from; families, not workloads, are held out.
        classes: At most 8 request classes.
        connections: Connections held open, 1..65,536.
        rate_per_s: Arrivals a second of an open loop (Poisson); None is a closed loop.
        cpus: Number of processors the server may use.
        seed: Seed of the load generator.
        parameters: What the family drew, for the record.
    """

    name: str
    family: str
    classes: tuple[RequestClass, ...]
    connections: int
    rate_per_s: float | None = None
    cpus: int = 2
    seed: int = 0
    parameters: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Rebuilds a workload from `as_dict`."""
        classes = tuple(
            RequestClass(**{**one, "steps": tuple(Step(**step) for step in one["steps"])}) for one in values["classes"]
        )
        return cls(**{**values, "classes": classes})
