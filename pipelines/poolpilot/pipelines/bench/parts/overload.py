"""A pool that is offered 1.5 times what it can carry: what priorities, a limit on those inside and the size save.

Two classes arrive in open loops. The urgent one is short and is a third of the capacity; the other makes up the rest:
transactions that wait for a disk without telling the pool (so that a pool of one group leaves its processor idle), and
for a row whose holder pays for every waiter (so that more inside get less done). Each of the three means has something
to do. What counts is goodput: answers within the latency target of their class, from the moment a request was due.

Each class has a load of its own, as two services would, so that connections that wait with one class hold up no request
of the other before it reaches the server.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from poolpilot.featurizer.histogram import Histogram
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.load_report import LoadReport
from poolpilot.native_pool.load_settings import LoadSettings
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.bench.parts.handlers import SPARE_DESCRIPTORS
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.rounds import Cell
from poolpilot.pipelines.bench.serving.served import PoolProcess, Served
from poolpilot.pipelines.bench.serving.trial import Measures, latencies
from poolpilot.pipelines.bench.serving.two_queues import Options, first_queue_first
from poolpilot.pipelines.bench.serving.usage import ProcessUsage

ROWS = 2
HIGH = RequestClass("high", (Step("cpu", us=150.0, variation=0.5),), target_ms=50.0)
LOW = RequestClass(
    "low",
    (
        Step("begin"),
        Step("cpu", us=200.0, variation=0.5),
        Step("wait", us=2000.0, variation=0.5, kind="disk_io"),
        Step("acquire", spread=ROWS, waiter_cost_us=8.0, reported=True),
        Step("wait", us=300.0, variation=0.5, kind="net", reported=True),
        Step("cpu", us=50.0, variation=0.5),
        Step("release", spread=ROWS),
        Step("cpu", us=100.0, variation=0.5),
        Step("commit"),
    ),
    target_ms=250.0,
)
CLASSES = (HIGH, LOW)

OVERLOAD = 1.5
"""What is offered, in capacities."""

HIGH_OFFERED = 1 / 3
"""What the urgent class offers of it, in capacities."""

CALM = 0.75
"""What is offered in all where there is no overload."""

SIZE = 4
LIMIT = 16
QUEUE = 32
"""The pool size, the limit inside and the places to wait for it that the combinations use."""

PRIORITIES: Options = {**first_queue_first(), "class_known": "peeked", "dedicated_listener": True}
ADMISSION: Options = {"admission_limit": LIMIT}
BOUNDED: Options = {**ADMISSION, "admission_queue_limit": QUEUE}
SIZED: Options = {"pool_size": SIZE}

ALL_AND_MORE: Options = {**PRIORITIES, **BOUNDED, **SIZED, "admission_exempt_class": 0}
"""Besides all three: the urgent class needs no place, and of the other no more than so many wait for one."""

REFERENCE = "no overload"
BEST = "all three, high exempt, low refused"
CONTENDERS: Mapping[str, Options] = {
    REFERENCE: ALL_AND_MORE,
    "nothing": {},
    "priorities": PRIORITIES,
    "admission": ADMISSION,
    "size": SIZED,
    "priorities and size": {**PRIORITIES, **SIZED},
    "all three": {**PRIORITIES, **ADMISSION, **SIZED},
    "all three, refusing": {**PRIORITIES, **BOUNDED, **SIZED},
    "all three, high exempt": {**PRIORITIES, **ADMISSION, **SIZED, "admission_exempt_class": 0},
    BEST: ALL_AND_MORE,
}
"""Options of the pools, by name; the first is offered less than the capacity and the others more."""


@dataclass(frozen=True, slots=True)
class Offered:
    """Arrivals a second of each class."""

    high_per_s: float
    low_per_s: float

    @classmethod
    def of(cls, contender: str, capacity_per_s: float) -> "Offered":
        """What a contender is offered where the server can carry so many requests a second."""
        high_per_s = HIGH_OFFERED * capacity_per_s
        whole = CALM if contender == REFERENCE else OVERLOAD
        return cls(high_per_s, whole * capacity_per_s - high_per_s)

    @property
    def rate_per_s(self) -> float:
        """Of both."""
        return self.high_per_s + self.low_per_s


BRIEFLY = LoadSettings(drain_timeout_s=0.1)
"""What still queues at the end of a window is of no interest."""

SHARES = (HIGH_OFFERED / OVERLOAD, 1.0 - HIGH_OFFERED / OVERLOAD)
"""Shares of the arrivals under overload, by which the capacity is measured."""

FLOOD_PER_S = 50_000.0
"""More than any server carries: every free connection finds a request that is due."""

CROWDS = (8, 16, 32, 64)
"""Connections under which the capacity is looked for."""


def arrivals(rate_per_s: float, shares: tuple[float, float], connections: int, seed: int = 0) -> Workload:
    """An open loop of both classes."""
    classes = tuple(replace(one, share=share) for one, share in zip(CLASSES, shares, strict=True))
    return Workload("overload", "overload", classes, connections, rate_per_s=rate_per_s, cpus=1, seed=seed)


def overload_cells(settings: PoolBenchSettings) -> Iterator[Cell]:
    """All combinations beside each other."""
    contenders = {name: partial(measure, settings, name) for name in CONTENDERS}
    yield Cell("overload", f"{OVERLOAD:g} times the capacity", contenders)


@cache
def capacity_per_s(cpus: tuple[tuple[int, ...], tuple[int, ...]], settle_s: float, window_s: float) -> float:
    """Requests a second that the live pool carries at most, measured once a process.

    Args:
        cpus: Processors of the server and of the load.
        settle_s: Time before each window.
        window_s: Length of a window.
    """
    server_cpus, load_cpus = cpus
    found = []
    for connections in CROWDS:
        with (
            PoolProcess(served(server_cpus, CONTENDERS["all three"], connections)) as server,
            Load(server.address, arrivals(FLOOD_PER_S, SHARES, connections), cpus=load_cpus) as load,
        ):
            load.run_for(settle_s)
            before = load.report()
            load.run_for(window_s)
            after = load.report()
        found.append((after.completed - before.completed) / (after.time_s - before.time_s))
    return max(found)


def served(cpus: tuple[int, ...], options: Options, connections: int) -> Served:
    """A pool of both classes."""
    most = connections + SPARE_DESCRIPTORS
    own: dict[str, Any] = {"class_names": [one.name for one in CLASSES], "max_connections": most}
    return Served("pool", cpus, descriptors=most, options={**own, **options})


def measure(settings: PoolBenchSettings, contender: str) -> Measures:
    """A fresh pool under what it is offered."""
    cpus = (settings.server_cpus, settings.load_cpus)
    capacity = capacity_per_s(cpus, settings.settle_s, settings.window_s)
    offered = Offered.of(contender, capacity)
    connections = settings.overload_connections
    high = arrivals(offered.high_per_s, (1.0, 0.0), connections)
    low = arrivals(offered.low_per_s, (0.0, 1.0), connections, seed=1)
    with (
        PoolProcess(served(settings.server_cpus, CONTENDERS[contender], 2 * connections)) as server,
        Load(server.address, high, cpus=settings.load_cpus, settings=BRIEFLY) as high_load,
        Load(server.address, low, cpus=settings.load_cpus, settings=BRIEFLY) as low_load,
    ):
        high_load.run_for(settings.settle_s)
        loads = (high_load, low_load)
        before, first = [load.report() for load in loads], ProcessUsage.of(server.pid)
        high_load.run_for(settings.overload_window_s)
        after, last = [load.report() for load in loads], ProcessUsage.of(server.pid)
    seconds = after[0].time_s - before[0].time_s
    measures = {
        "capacity_per_s": capacity,
        "busy_cpus": (last.cpu_s - first.cpu_s) / seconds,
        "threads": float(last.threads),
    }
    for one, mine, earlier in zip(CLASSES, after, before, strict=True):
        measures.update(answered(one, earlier, mine, seconds))
    measures["throughput_per_s"] = sum(measures[f"{one.name}_throughput_per_s"] for one in CLASSES)
    return measures


def answered(one: RequestClass, before: LoadReport, after: LoadReport, seconds: float) -> Measures:
    """What became of a class between two reports of its load."""
    first, last = before.classes[one.name], after.classes[one.name]
    latency = Histogram(last.latency_counts - first.latency_counts)
    assert one.target_ms is not None
    return {
        f"{one.name}_goodput_per_s": latency.count_below(one.target_ms * 1e3) / seconds,
        f"{one.name}_throughput_per_s": (last.completed - first.completed) / seconds,
        f"{one.name}_refused_per_s": (last.refused - first.refused) / seconds,
        **latencies(f"{one.name}_", [(before, after)], [one.name]),
    }
