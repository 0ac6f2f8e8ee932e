"""A limit on the transactions inside, beside none, from a few connections to thousands that all want one latch.

A transaction waits for its disk, then writes under the latch, as to a log, and whoever holds the latch pays for every
waiter: the latch is busy long before a processor is. The limit is the same at every number of connections. Of the
630 us of a transaction 170 are under the latch, so 4 inside keep it busy, and as many again make up for what varies.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.bench.parts.handlers import SPARE_DESCRIPTORS
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.interval import Interval
from poolpilot.pipelines.bench.serving.rounds import Cell
from poolpilot.pipelines.bench.serving.served import Served
from poolpilot.pipelines.bench.serving.trial import Measures, PoolTrial

ALONE, LIMITED = "pool alone", "with the limit"

SETTLED_AT_ONCE = 512
"""Connections up to which a pool settles in the time that all parts have; beyond, it needs as many times longer."""

CONVOY = RequestClass(
    "convoy",
    (
        Step("begin"),
        Step("cpu", us=40.0, variation=0.5),
        Step("wait", us=400.0, variation=0.5, kind="disk_io", reported=True),
        Step("acquire", waiter_cost_us=2.0, reported=True),
        Step("cpu", us=20.0, variation=0.2),
        Step("wait", us=150.0, variation=0.2, kind="disk_io", reported=True),
        Step("release"),
        Step("cpu", us=20.0, variation=0.5),
        Step("commit"),
    ),
)


def convoy(connections: int, seed: int = 0) -> Workload:
    """So many clients, all of which want the latch."""
    return Workload("convoy", "admission", (CONVOY,), connections=connections, cpus=1, seed=seed)


def throttling_cells(settings: PoolBenchSettings) -> Iterator[Cell]:
    """With the limit and without it, at every number of connections."""
    for connections in settings.throttled:
        contenders = {
            name: partial(measure, settings, connections, limit)
            for name, limit in ((ALONE, 0), (LIMITED, settings.throttled_to))
        }
        yield Cell("throttling", f"convoy at {connections}", contenders)


def measure(settings: PoolBenchSettings, connections: int, limit: int) -> Measures:
    """A fresh pool with a limit; 0 is none."""
    most = connections + SPARE_DESCRIPTORS
    served = Served(
        "pool",
        settings.server_cpus,
        descriptors=most,
        options={"max_connections": most, "class_names": [CONVOY.name], "admission_limit": limit},
    )
    settle_s = settings.settle_s * max(1.0, connections / SETTLED_AT_ONCE)
    return PoolTrial(served, convoy(connections), settings.load_cpus, settle_s, settings.window_s).run()


def of_peak(cells: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, dict[str, Interval]]:
    """Each contender of each cell over the best of all, repeat by repeat.

    Args:
        cells: Throughputs of the repeats, by cell and contender.

    Returns:
        The ratio to the one of greatest mean, by cell and contender; those that lack a repeat are left out.
    """
    found = [values for contenders in cells.values() for values in contenders.values() if len(values)]
    peak = max(found, key=lambda values: sum(values) / len(values), default=())
    return {
        cell: {
            name: Interval.of_ratio(values, peak)
            for name, values in contenders.items()
            if len(values) == len(peak) and min(values, default=0.0) > 0.0
        }
        for cell, contenders in cells.items()
    }
