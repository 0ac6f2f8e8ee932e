"""Classes with queues of their own in the live pool: how each is known, and the share that a discipline gives it.

*Known*: what each way to know the class of a request costs the server, and how often it is wrong. Where every
connection sends one class, what it declared or sent last is right but for its first request; where each connection
sends both as chance has it, only a look at the header is.

*Shares*: what each discipline with weights gives to classes that never run out of requests.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.bench.disciplines.shares import LIVE_PLANS, SharePlan
from poolpilot.pipelines.bench.parts.handlers import SPARE_DESCRIPTORS
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.rounds import Cell
from poolpilot.pipelines.bench.serving.served import Served
from poolpilot.pipelines.bench.serving.trial import Measures, PoolTrial
from poolpilot.pipelines.bench.serving.two_queues import weighted_queues
from poolpilot.pipelines.bench.serving.works import WORKS

POOL = "pool"
UNASKED = "not asked"
WAYS = ("declared", "last", "peeked")
NAMES = ("first", "second")
OPEN_LOOP_PER_S = 8000.0


def known_cells(settings: PoolBenchSettings) -> Iterator[Cell]:
    """Connections that each send one class, and connections that send both."""
    lookups = WORKS["point_select"]
    classes = (RequestClass(NAMES[0], lookups), RequestClass(NAMES[1], lookups))
    one_each = Workload("one class each", "serving", classes, connections=settings.known_connections, cpus=1)
    for workload in (one_each, replace(one_each, name="both classes", rate_per_s=OPEN_LOOP_PER_S)):
        contenders = {way: partial(measure_known, settings, workload, way) for way in (UNASKED, *WAYS)}
        yield Cell("known", workload.name, contenders)


def measure_known(settings: PoolBenchSettings, workload: Workload, way: str) -> Measures:
    """A fresh pool that gets to know classes one way."""
    served = Served(
        "pool",
        settings.server_cpus,
        descriptors=workload.connections + SPARE_DESCRIPTORS,
        options={"class_names": list(NAMES), **(weighted_queues(0.5) | {"class_known": way} if way != UNASKED else {})},
    )
    if way == "declared":
        workload = replace(workload, classes=tuple(declaring(one) for one in workload.classes))
    return PoolTrial(served, workload, settings.load_cpus, settings.settle_s, settings.window_s).run()


def declaring(one: RequestClass) -> RequestClass:
    """The same, said at its head as a session would say it once; the step costs nothing beside a lookup."""
    return replace(one, steps=(Step("declare"), *one.steps))


def share_cells(settings: PoolBenchSettings) -> Iterator[Cell]:
    """Every plan by itself."""
    for plan in LIVE_PLANS:
        yield Cell("shares", plan.name, {POOL: partial(measure_shares, settings, plan)})


def measure_shares(settings: PoolBenchSettings, plan: SharePlan) -> Measures:
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
