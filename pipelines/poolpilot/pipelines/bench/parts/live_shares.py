"""What each discipline with weights gives to classes that never run out of requests, in the live pool."""

from collections.abc import Iterator
from functools import partial

from poolpilot.pipelines.bench.disciplines.share_plan import LIVE_PLANS, SharePlan
from poolpilot.pipelines.bench.parts.handlers import SPARE_DESCRIPTORS
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.rounds import Cell
from poolpilot.pipelines.bench.serving.served import Served
from poolpilot.pipelines.bench.serving.trial import Measures, PoolTrial

POOL = "pool"


def share_cells(settings: PoolBenchSettings) -> Iterator[Cell]:
    """Every plan by itself."""
    for plan in LIVE_PLANS:
        yield Cell("shares", plan.name, {POOL: partial(measure, settings, plan)})


def measure(settings: PoolBenchSettings, plan: SharePlan) -> Measures:
    """A fresh pool of one group on one processor, with the share of each class and how far off the farthest is."""
    workload = plan.workload()
    served = Served(
        "pool",
        settings.server_cpus[:1],
        descriptors=workload.connections + SPARE_DESCRIPTORS,
        options={"class_names": list(plan.classes), "pool_size": 1, **plan.options()},
    )
    measures = PoolTrial(served, workload, settings.load_cpus, settings.settle_s, settings.window_s).run()
    shares = plan.shares({name: measures[f"{name}_throughput_per_s"] for name in plan.classes})
    return {
        **measures,
        **{f"{name}_share": share for name, share in shares.items()},
        "points_off": plan.points_off(shares),
    }
