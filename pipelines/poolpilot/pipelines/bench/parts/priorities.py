"""The mixes of Trub (priorities) on a live pool whose classes have a queue each, by the weight of one of them.

The pools differ in their discipline alone: one FIFO queue, the two levels of MariaDB (statements of transactions
go first, Trub's "original"), or two queues by weight. Each has a listener that does nothing else, without which a
group serves batches and a weight orders no more than one poll has found (decision 21).
"""

from collections.abc import Iterator
from functools import partial

from poolpilot.pipelines.bench.parts.handlers import SPARE_DESCRIPTORS
from poolpilot.pipelines.bench.parts.mixes import MIXES, WEIGHTS, Mix
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.rounds import Cell
from poolpilot.pipelines.bench.serving.served import Served
from poolpilot.pipelines.bench.serving.trial import Measures, PoolTrial
from poolpilot.pipelines.bench.serving.two_queues import Options, transactions_first, weighted_queues

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
