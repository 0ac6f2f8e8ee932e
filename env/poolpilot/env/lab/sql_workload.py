"""A workload of the test server: classes of statements that sysbench sends, with their targets and constraints."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self

from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError

Script = Literal[
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_update_index",
    "analytic",
    "hot_rows",
    "ranges",
    "tpcc",
    "waiting",
]
"""Scripts of `lua/`; those that begin with oltp_ are sysbench's own, measured by `lua/stock.lua`."""

DatasetName = Literal["small", "large", "empty"]
MOST_CONNECTIONS = 1024


@dataclass(frozen=True, slots=True)
class SqlClass:
    """Requests that share a script, connections and a latency target.

    Attributes:
        name: Name of the class; its latency histogram carries it.
        script: What a request does.
        connections: Connections that send nothing else, 1..1024.
        target_ms: Latency within which a completion counts as goodput; None counts every completion.
        weight: Weight of a completion in the goodput.
        min_share: Share of its throughput under the default tuple that the class must keep; None for no constraint.
        think_ms: Mean pause between response and next request, exponential.
        rate_per_s: Requests offered a second, Poisson; 0 is a closed loop.
        burst_period_s: Seconds from one burst to the next; 0 is an even load.
        burst_share: Share of that time that a burst lasts.
        options: Further options of the script, by name.
    """

    name: str
    script: Script
    connections: int
    target_ms: float | None = None
    weight: float = 1.0
    min_share: float | None = None
    think_ms: float = 0.0
    rate_per_s: float = 0.0
    burst_period_s: float = 0.0
    burst_share: float = 0.5
    options: Mapping[str, float | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses numbers that no load has.

        Raises:
            SettingError: One is out of its range.
        """
        if not 1 <= self.connections <= MOST_CONNECTIONS:
            raise SettingError(f"class {self.name} has {self.connections} connections; allowed are 1..1024")
        if min(self.think_ms, self.rate_per_s, self.burst_period_s) < 0.0 or not 0.0 < self.burst_share <= 1.0:
            raise SettingError(f"class {self.name} needs pauses and rates of at least 0 and a burst_share in 0..1")


@dataclass(frozen=True, slots=True)
class SqlWorkload:
    """What a test server sends.

    Attributes:
        name: Unique name.
        family: Family it was drawn from; families, not workloads, are held out.
        classes: Request classes.
        dataset: Data it runs on.
        cpus: Processors the server may use.
        slow_disk_us: Latency added to every read, write and flush of the server; None for the disk as it is.
        seed: Seed of the load.
        parameters: What the family drew, for the record.
    """

    name: str
    family: str
    classes: tuple[SqlClass, ...]
    dataset: DatasetName = "small"
    cpus: int = 2
    slow_disk_us: tuple[int, int, int] | None = None
    seed: int = 0
    parameters: Mapping[str, float] = field(default_factory=dict)

    @property
    def connections(self) -> int:
        """Connections of all classes."""
        return sum(sql_class.connections for sql_class in self.classes)

    @property
    def objective(self) -> Objective:
        """What counts: goodput within the classes' targets, above the constraints."""
        return Objective(
            targets_ms={
                sql_class.name: sql_class.target_ms for sql_class in self.classes if sql_class.target_ms is not None
            },
            weights={sql_class.name: sql_class.weight for sql_class in self.classes},
            min_share={
                sql_class.name: sql_class.min_share for sql_class in self.classes if sql_class.min_share is not None
            },
        )

    def as_dict(self) -> dict[str, Any]:
        """Returns the fields, fit for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Rebuilds a workload from `as_dict`.

        Raises:
            SettingError: A field is missing, unknown or out of its range.
        """
        try:
            classes = tuple(SqlClass(**fields) for fields in values["classes"])
            disk = values.get("slow_disk_us")
            return cls(**{**values, "classes": classes, "slow_disk_us": tuple(disk) if disk else None})
        except (KeyError, TypeError) as error:
            raise SettingError(f"not a workload of the test server: {error}") from error
