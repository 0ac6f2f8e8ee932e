"""A workload of the test server: classes of statements that sysbench sends, with their targets and constraints."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, get_args

from poolpilot.env.objective import Objective
from poolpilot.errors import SettingError
from poolpilot.featurizer.window import MOST_CLASSES
from poolpilot.lab.script_options import OptionValue, check_options
from poolpilot.lab.side.side_job import SideJob

Script = Literal[
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_update_index",
    "analytic",
    "dump",
    "hot_rows",
    "ranges",
    "reconnect",
    "remote_call",
    "slow_reader",
    "tpcc",
    "user_lock",
    "waiting",
]
"""Scripts of `lua/`; those that begin with oltp_ are sysbench's own, measured by `lua/stock.lua`."""

RECONNECTING: tuple[Script, ...] = ("reconnect",)
"""Scripts that close their connection after every request."""

Offered = Literal["rate", "pauses"]

DatasetName = Literal["small", "large", "orders", "empty"]
MOST_CONNECTIONS = 1024
LEAST_BUFFER_POOL_MB, MOST_BUFFER_POOL_MB = 8, 65_536
MOST_CAPACITY_SHARE = 4.0
DELAYS = 3
LONGEST_CYCLE_S = 60.0
"""Up to here periods that differ are taken for one cycle, their common multiple: windows hold whole ones."""


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
        capacity_share: Requests offered a second as a share of what the class completes alone in a closed loop, instead
            of `rate_per_s`; measured once before the load begins (`capacity.py`).
        share_by: How that share is offered: at a rate, or by pauses of the connections in a closed loop.
        burst_period_s: Seconds from one burst to the next; 0 is an even load.
        burst_share: Share of that time that a burst lasts.
        burst_offset: Share of that time after which a burst begins, 0..1; classes whose bursts lie beside one another
            take turns.
        options: Further options of the script, by name; `script_options.py` has them.
    """

    name: str
    script: Script
    connections: int
    target_ms: float | None = None
    weight: float = 1.0
    min_share: float | None = None
    think_ms: float = 0.0
    rate_per_s: float = 0.0
    capacity_share: float = 0.0
    share_by: Offered = "rate"
    burst_period_s: float = 0.0
    burst_share: float = 0.5
    burst_offset: float = 0.0
    options: Mapping[str, OptionValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses numbers that no load has.

        Raises:
            SettingError: One is out of its range.
        """
        if not 1 <= self.connections <= MOST_CONNECTIONS:
            raise SettingError(f"class {self.name} has {self.connections} connections; allowed are 1..1024")
        if min(self.think_ms, self.rate_per_s, self.burst_period_s) < 0.0 or not 0.0 < self.burst_share <= 1.0:
            raise SettingError(f"class {self.name} needs pauses and rates of at least 0 and a burst_share in 0..1")
        if not 0.0 <= self.burst_offset < 1.0:
            raise SettingError(f"class {self.name} has the burst_offset {self.burst_offset:g}; allowed is 0 to under 1")
        if not 0.0 <= self.capacity_share <= MOST_CAPACITY_SHARE or (self.capacity_share and self.rate_per_s):
            raise SettingError(
                f"class {self.name} has the capacity_share {self.capacity_share:g} and the rate_per_s "
                f"{self.rate_per_s:g}; allowed is one of them, and a share of 0..{MOST_CAPACITY_SHARE:g}"
            )
        if self.share_by not in get_args(Offered) or (self.share_by == "pauses" and not self.capacity_share):
            raise SettingError(
                f"class {self.name} has the share_by {self.share_by!r}; it is rate, or pauses with a capacity_share"
            )
        if self.script not in get_args(Script):
            scripts = ", ".join(get_args(Script))
            raise SettingError(f"class {self.name} has the script {self.script!r}; there are {scripts}")
        if self.min_share is not None and not 0.0 <= self.min_share <= 1.0:
            raise SettingError(f"class {self.name} has the min_share {self.min_share:g}; allowed is a share of 0..1")
        check_options(self.name, self.script, self.options)


@dataclass(frozen=True, slots=True)
class SqlWorkload:
    """What a test server sends.

    Attributes:
        name: Unique name.
        family: Family it was drawn from; families, not workloads, are held out.
        classes: Request classes, 1..64.
        dataset: Data it runs on.
        cpus: Processors the server may use.
        slow_disk_us: Latency added to every read, write and flush of the server; None for the disk as it is.
        seed: Seed of the load.
        parameters: What the family drew, for the record.
        log_bin: Whether the server writes a binary log, flushed with every group of commits.
        buffer_pool_mb: Buffer pool of the server; that of the data set if None.
        side: What one more session does beside the load; None for nothing.
    """

    name: str
    family: str
    classes: tuple[SqlClass, ...]
    dataset: DatasetName = "small"
    cpus: int = 2
    slow_disk_us: tuple[int, int, int] | None = None
    seed: int = 0
    parameters: Mapping[str, float] = field(default_factory=dict)
    log_bin: bool = False
    buffer_pool_mb: int | None = None
    side: SideJob | None = None

    def __post_init__(self) -> None:
        """Refuses what no test server runs.

        Raises:
            SettingError: A field is unknown or out of its range.
        """
        if not 1 <= len(self.classes) <= MOST_CLASSES:
            raise SettingError(
                f"the workload {self.name} has {len(self.classes)} classes; it needs at least one and may have "
                f"{MOST_CLASSES}"
            )
        if self.cpus < 1:
            raise SettingError(f"the workload {self.name} has {self.cpus} processors; it needs at least one")
        names = [one.name for one in self.classes]
        if len(set(names)) < len(names):
            raise SettingError(f"the workload {self.name} has two classes of one name: {', '.join(names)}")
        if self.slow_disk_us is not None and (len(self.slow_disk_us) != DELAYS or min(self.slow_disk_us) < 0):
            raise SettingError(
                f"the workload {self.name} has the slow_disk_us {self.slow_disk_us}; it is three delays of 0 or more: "
                "of a read, a write and a flush"
            )
        if self.dataset not in get_args(DatasetName):
            datasets = ", ".join(get_args(DatasetName))
            raise SettingError(f"the workload {self.name} has the dataset {self.dataset!r}; there are {datasets}")
        size_mb = self.buffer_pool_mb
        if size_mb is not None and not LEAST_BUFFER_POOL_MB <= size_mb <= MOST_BUFFER_POOL_MB:
            raise SettingError(
                f"the workload {self.name} has a buffer_pool_mb of {size_mb}; allowed are "
                f"{LEAST_BUFFER_POOL_MB}..{MOST_BUFFER_POOL_MB}"
            )

    @property
    def held_connections(self) -> int:
        """Connections of the classes that keep theirs."""
        return sum(one.connections for one in self.classes if one.script not in RECONNECTING)

    @property
    def most_connections(self) -> int:
        """Connections that its server may see at once: one may come before the server has noted that the last went."""
        return 2 * self.connections - self.held_connections

    @property
    def cycle_s(self) -> float:
        """Seconds after which all bursts and the side job begin anew, or the rarest where that is too long; else 0."""
        return self._common_cycle_s or max(self._periods_s, default=0.0)

    @property
    def has_cycle(self) -> bool:
        """Whether all that repeats itself does so after `cycle_s`; also where nothing does."""
        return not self._periods_s or self._common_cycle_s is not None

    @property
    def _periods_s(self) -> tuple[float, ...]:
        """Seconds after which each of what repeats itself begins anew."""
        periods_s = (self.side.cycle_s if self.side else 0.0, *(one.burst_period_s for one in self.classes))
        return tuple(one for one in periods_s if one > 0.0)

    @property
    def _common_cycle_s(self) -> float | None:
        """Least common multiple of the periods, in whole milliseconds; None where it is too long or there are none."""
        longest_s = max(self._periods_s, default=0.0)
        if len(set(self._periods_s)) <= 1:
            return longest_s or None
        multiple_s = math.lcm(*(max(round(1000.0 * one), 1) for one in self._periods_s)) / 1000.0
        return multiple_s if multiple_s <= max(LONGEST_CYCLE_S, longest_s) else None

    @property
    def server_options(self) -> tuple[str, ...]:
        """Options of mariadbd beyond those of every test server."""
        # Each start begins a log; those of earlier ones would fill the disk.
        expiry = "--loose-binlog-expire-logs-seconds=60"
        logged = ("--log-bin=binlog", "--sync-binlog=1", "--server-id=1", expiry) if self.log_bin else ()
        size = (f"--innodb-buffer-pool-size={self.buffer_pool_mb}M",) if self.buffer_pool_mb is not None else ()
        return (*logged, *size)

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
            disk, side = values.get("slow_disk_us"), values.get("side")
            rest = {"slow_disk_us": tuple(disk) if disk else None, "side": SideJob(**side) if side else None}
            return cls(**{**values, "classes": classes, **rest})
        except (KeyError, TypeError) as error:
            raise SettingError(f"not a workload of the test server: {error}") from error
