"""The mixes of Trub (priorities) on a live pool whose classes have a queue each, by the weight of one of them.

Trub (priorities; docs/references.md) runs sysbench's classes two by two, 1,024 connections each, and moves the weight
of one of the two queues from 0 to 1. Here a statement is a step program; which of them are part of a transaction, a
pool of two levels is told by their class. The pools differ in their discipline alone: one FIFO queue, the two levels of
MariaDB (statements of transactions go first, Trub's "original"), or two queues by weight. Each has a listener that does
nothing else, without which a group serves batches and a weight orders no more than one poll has found.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.bench.parts.handlers import SPARE_DESCRIPTORS
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.rounds import Cell
from poolpilot.pipelines.bench.serving.served import Served
from poolpilot.pipelines.bench.serving.trial import Measures, PoolTrial
from poolpilot.pipelines.bench.serving.two_queues import Options, transactions_first, weighted_queues

WEIGHTS = tuple(step / 10 for step in range(11))
"""Weights of a mix's second class, as Trub has them."""

ROWS = 4
"""Rows that those who write want, each held until its change is on the disk."""


def _cpu(us: float) -> Step:
    return Step("cpu", us=us, variation=0.5)


def _disk(us: float) -> Step:
    return Step("wait", us=us, variation=0.5, kind="disk_io", reported=True)


def _in_row(latch: int, disk_us: float, waiter_cost_us: float) -> tuple[Step, ...]:
    """A wait for the disk under the lock of a row, whose holder walks the list of those who wait for it."""
    acquire = Step("acquire", latch=latch, spread=ROWS, waiter_cost_us=waiter_cost_us, reported=True)
    return acquire, _disk(disk_us), Step("release", latch=latch, spread=ROWS)


POINT_SELECT = RequestClass("point_select", (_cpu(60.0),))
READ_ONLY = RequestClass("read_only", (_cpu(70.0),))
READ_WRITE = RequestClass("read_write", (_cpu(40.0), _disk(13_000.0), *_in_row(0, 100.0, 0.5), _cpu(20.0)))
WRITE_ONLY = RequestClass("write_only", (_cpu(60.0), *_in_row(ROWS, 3000.0, 14.0), _cpu(60.0)))


@dataclass(frozen=True, slots=True)
class Mix:
    """Two classes that share a pool.

    Attributes:
        first: The class whose weight is what is left.
        second: The class whose weight is set.
    """

    first: RequestClass
    second: RequestClass

    @property
    def name(self) -> str:
        """The mix in words."""
        return f"{self.first.name} + {self.second.name}"

    @property
    def class_names(self) -> tuple[str, str]:
        """Names of the two."""
        return self.first.name, self.second.name

    def closed_loop(self, connections: int, cpus: int = 1, seed: int = 0) -> Workload:
        """So many connections of each class, each of which sends its next request once the last is answered."""
        classes = (self.first, self.second)
        return Workload(self.name, "mixes", classes, connections=2 * connections, cpus=cpus, seed=seed)


MIXES: Mapping[str, Mix] = {
    mix.name: mix for mix in (Mix(POINT_SELECT, READ_WRITE), Mix(READ_ONLY, WRITE_ONLY), Mix(POINT_SELECT, READ_ONLY))
}
"""By name, in the order of Trub's figures 6 to 8."""


ORIGINAL = "original"
FIFO = "FIFO"
LISTENING = {"dedicated_listener": True, "class_known": "peeked"}


def weight_name(weight: float) -> str:
    """How the pool is called whose second class has a weight."""
    return f"weight {weight:.1f}"


def disciplines(mix: Mix) -> dict[str, Options]:
    """Options of the pools that are compared, by name."""
    by_weight = {weight_name(weight): {**weighted_queues(weight), **LISTENING} for weight in WEIGHTS}
    return {
        FIFO: {"discipline": "fifo", **LISTENING},
        ORIGINAL: {**transactions_first(mix.class_names), **LISTENING},
        **by_weight,
    }


def priority_cells(settings: PoolBenchSettings) -> Iterator[Cell]:
    """Every mix under every discipline."""
    for mix in MIXES.values():
        contenders = {name: partial(measure, settings, mix, options) for name, options in disciplines(mix).items()}
        yield Cell("priorities", mix.name, contenders)


def measure(settings: PoolBenchSettings, mix: Mix, options: Options) -> Measures:
    """A fresh pool under a mix: throughput and latencies of each class."""
    served = Served(
        "pool",
        settings.server_cpus,
        descriptors=2 * settings.mix_connections + SPARE_DESCRIPTORS,
        options={"class_names": list(mix.class_names), **options},
    )
    load = mix.closed_loop(settings.mix_connections)
    return PoolTrial(served, load, settings.load_cpus, settings.mix_settle_s, settings.mix_window_s).run()
