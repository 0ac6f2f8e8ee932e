"""How long a request of the class that is served last waits at most: the bound of each discipline, and what is seen.

One worker, and every request occupies it equally long. The first class never pauses, so that it always has something
queued; clients of the patient class pause, and so come at any time. A bound counts what may be served before a request
and adds the request itself, what is being served when it comes and what comes in while the listener looks. N are the
connections of all classes, n those of the patient one, w its weight. Stays are those of the simulated pool.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import nbinom

from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.histogram import LOWER_BOUNDS, Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.bench.disciplines.shares import WORKER
from poolpilot.pipelines.bench.serving.served import native_options

BUSY, PATIENT = 32, 4
"""Connections of each busy class, and of the patient one."""

SERVICE_MS = 0.2
OVERHEAD_MS = 0.001
OCCUPIED_MS = SERVICE_MS + OVERHEAD_MS
THINK_MS = 3.0
SPARE_SERVICES = 2.0
"""What is being served when a request comes, and the answers whose clients the listener looks for meanwhile."""

CHANCE = 1e-3
"""With which the bound of a draw may be overstepped by any of the requests that are measured."""

KICK_UP_MS, TICK_MS, LATE_MS = 50, 10, 1.0
DEADLINES_MS = (40.0, 60.0)
URGENCIES_MS = (5.0, 80.0)
ROUND_MS = 4.0
PATIENT_NAME = "patient"


@dataclass(frozen=True, slots=True)
class BoundPlan:
    """A discipline with its bound.

    Attributes:
        discipline: Its name.
        promise: What the bound says, in words.
        bound_ms: Longest stay of a patient request, by the number of requests that are measured.
        queues: The queues, in order of priority, by field; none are MariaDB's two levels.
        options: Further options of the pool.
        patient_queue: The queue of the patient class; the others have a busy class each.
    """

    discipline: str
    promise: str
    bound_ms: Callable[[int], float]
    queues: tuple[Mapping[str, float], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    patient_queue: int = -1

    def pool_options(self) -> dict[str, Any]:
        """Options of a pool of one group, its queues and rules by field."""
        chosen = {**WORKER, "discipline": self.discipline, **self.options}
        if not self.queues:
            return chosen
        places = list(range(len(self.queues)))
        patient = places.pop(self.patient_queue)
        rules = [{"class_id": class_id, "queue": place} for class_id, place in enumerate([*places, patient])]
        return {**chosen, "queues": [dict(queue) for queue in self.queues], "rules": rules}

    def workload(self, seed: int) -> Workload:
        """Busy classes, and the patient one last."""
        work = Step("cpu", us=SERVICE_MS * 1e3)
        # Of MariaDB's levels the high one is that of transactions: the busy connections never commit.
        busy = (Step("begin"), work) if self.discipline == "mariadb" else (work,)
        count = max(len(self.queues), 2)
        classes = tuple(RequestClass(f"busy {place}", busy, share=BUSY) for place in range(count - 1))
        patient = RequestClass(PATIENT_NAME, (work,), share=PATIENT, think_ms=THINK_MS)
        connections = BUSY * (count - 1) + PATIENT
        return Workload(self.discipline, "disciplines", (*classes, patient), connections=connections, cpus=2, seed=seed)


def stay_ms(services: float) -> float:
    """How long so many services last, with those that nobody can be spared."""
    return (services + SPARE_SERVICES) * OCCUPIED_MS


def weights(*values: float) -> tuple[Mapping[str, float], ...]:
    """Queues by their weights."""
    return tuple({"weight": value} for value in values)


def kicked_up_ms(_: int) -> float:
    """Until the tick after the kick-up; then everybody at most once."""
    return KICK_UP_MS + TICK_MS + LATE_MS + stay_ms(BUSY + PATIENT)


def drawn_ms(weight: float) -> Callable[[int], float]:
    """Until as many draws have fallen on the queue as are in it: negatively binomial."""

    def bound_ms(requests: int) -> float:
        others = float(nbinom.isf(CHANCE / max(requests, 1), PATIENT, weight))
        return stay_ms(PATIENT + others)

    return bound_ms


def fair_ms(weight: float, queues: int) -> Callable[[int], float]:
    """n/w requests, and one more of every other queue (Goyal, Vin and Cheng)."""
    return lambda _: stay_ms(PATIENT / weight + queues - 1)


def rounds_ms(quanta: tuple[float, ...], longest: float) -> float:
    """Services until the last queue has been served n times: its turns, and those of all others and one more."""
    turns = math.ceil(PATIENT * longest / quanta[-1])
    others = sum((turns + 1) * quantum + longest for quantum in quanta[:-1])
    return PATIENT * longest + others


LIGHT = (0.9, 0.1)
THREE = (5.0 / 9.0, 3.0 / 9.0, 1.0 / 9.0)


def round_robin_ms(vector: tuple[float, ...]) -> Callable[[int], float]:
    """Quanta are counted in requests, that of the smallest weight being one."""
    quanta = tuple(weight / min(vector) for weight in vector)
    return lambda _: stay_ms(rounds_ms(quanta, 1.0))


def deficit_ms(vector: tuple[float, ...]) -> Callable[[int], float]:
    """Quanta are times (Shreedhar and Varghese)."""
    quanta = tuple(weight * ROUND_MS for weight in vector)
    return lambda _: rounds_ms(quanta, OCCUPIED_MS) + stay_ms(0.0)


BOUND_PLANS = (
    BoundPlan(
        "mariadb",
        f"the kick-up ({KICK_UP_MS} ms) and a tick ({TICK_MS} ms), then N requests",
        kicked_up_ms,
        options={"prio_kickup_ms": KICK_UP_MS},
    ),
    BoundPlan(
        "impatient",
        "its deadlines (60 and 40 ms) and a request after each, then N requests",
        lambda _: sum(DEADLINES_MS) + stay_ms(2 * BUSY + PATIENT + len(DEADLINES_MS)),
        ({}, {"deadline_ms": DEADLINES_MS[0]}, {"deadline_ms": DEADLINES_MS[1]}),
    ),
    BoundPlan("weighted", "the draws until n have fallen on it, all but one time in 1,000", drawn_ms(0.1),
              weights(*LIGHT)),
    BoundPlan("cbwfq", "n / w requests and one more of every other queue", fair_ms(0.1, 2), weights(*LIGHT)),
    BoundPlan("cbwfq", "the same of three queues", fair_ms(THREE[-1], 3), weights(*THREE)),
    BoundPlan("weighted_round_robin", "n / quantum turns of all, and one more", round_robin_ms(LIGHT), weights(*LIGHT)),
    BoundPlan("weighted_round_robin", "the same of three queues", round_robin_ms(THREE), weights(*THREE)),
    BoundPlan("deficit_round_robin", "n requests' time / quantum turns of all, and one more", deficit_ms(LIGHT),
              weights(*LIGHT), {"round_ms": ROUND_MS}),
    BoundPlan("deficit_round_robin", "the same of three queues", deficit_ms(THREE), weights(*THREE),
              {"round_ms": ROUND_MS}),
    BoundPlan("cbwfq_llq", "the low-latency queue: n requests", lambda _: stay_ms(PATIENT), weights(0.0, *LIGHT),
              patient_queue=0),
    BoundPlan(
        "dynamic",
        "the difference of the urgencies (75 ms), then N requests",
        lambda _: URGENCIES_MS[1] - URGENCIES_MS[0] + stay_ms(BUSY + PATIENT),
        ({"urgency_ms": URGENCIES_MS[0]}, {"urgency_ms": URGENCIES_MS[1]}),
    ),
    BoundPlan("priority", "none: it may starve", lambda _: math.inf, ({}, {})),
    BoundPlan("alternating", "none: it may starve", lambda _: math.inf, ({}, {})),
    BoundPlan("weighted", "none where its weight is 0: it may starve", lambda _: math.inf, weights(1.0, 0.0)),
    BoundPlan("israeli", "N requests", lambda _: stay_ms(BUSY + PATIENT), ({}, {})),
    BoundPlan("fifo", "N requests", lambda _: stay_ms(BUSY + PATIENT), ({}, {})),
)  # fmt: skip


WARM_S = 0.2
"""Until every client has been let in."""

ONE_GROUP = PoolTuple(1, 3, TICK_MS)
MACHINE = Machine(overhead_us=OVERHEAD_MS * 1e3, wake_us=0.0, wake_cost_us=0.0, switch_us=0.0)
"""A second processor listens; what happens around a request takes no time, so that stays are those of the queues."""


def stays(plan: BoundPlan, seed: int, seconds: float) -> Histogram:
    """Times in the system, in microseconds, of the patient requests of some seconds of virtual time."""
    options = native_options({"queue_seed": seed, **plan.pool_options()})
    server = SimulatedServer(plan.workload(seed), MACHINE, initial=ONE_GROUP, **options)
    server.run_for(WARM_S)
    before = server.snapshot().histograms[f"latency_us/{PATIENT_NAME}"]
    server.run_for(seconds)
    return server.snapshot().histograms[f"latency_us/{PATIENT_NAME}"] - before


def longest_ms(observed: Histogram) -> float:
    """What the longest was at least: buckets are up to 6.25 % wide; 0 where there is none."""
    filled = np.flatnonzero(observed.counts)
    return float(LOWER_BOUNDS[filled[-1]]) / 1e3 if filled.size else 0.0


def bound_row(plan: BoundPlan, seeds: int, seconds: float) -> dict[str, Any]:
    """A plan under seeds 1 to `seeds`: its bound, the longest of all stays, and how many there were."""
    runs = [stays(plan, seed, seconds) for seed in range(1, seeds + 1)]
    requests = sum(run.count for run in runs)
    bound_ms = plan.bound_ms(requests)
    return {
        "discipline": plan.discipline,
        "promise": plan.promise,
        "bound_ms": None if math.isinf(bound_ms) else bound_ms,
        "longest_ms": max(longest_ms(run) for run in runs),
        "requests": requests,
    }
