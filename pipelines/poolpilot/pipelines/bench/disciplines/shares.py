"""Disciplines that share something out by weight, under a load that always has something in every queue.

What they gave is measured in the simulated pool here, each plan under several seeds, and live by
`bench/parts/classes.py`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.bench.serving.interval import Interval
from poolpilot.pipelines.bench.serving.served import native_options

NAMES = ("first", "second", "third")
CONNECTIONS_EACH = 64
VARIATION = 0.5
LENGTHS_US = {"requests": (100.0, 400.0, 200.0), "time": (500.0, 2000.0, 1000.0)}
"""Processor time of a request of each class, by what is shared out.

Where requests are, they are short, so that many are counted; where time is, long, so that what a server does around a
request is little of it.
"""

LOW_LATENCY_LOAD = 0.15
"""Of the worker that a low-latency queue takes at most: its clients pause, so that it leaves something to share out."""

WORKER = {"dedicated_listener": True, "class_known": "peeked"}
"""For a pool of one group. A listener that serves too empties the queues before it looks for more."""


@dataclass(frozen=True, slots=True)
class SharePlan:
    """A discipline with weights.

    Attributes:
        discipline: Its name.
        of: What its weights are shares of: requests, or the time that they occupy a worker.
        weights: Weight of each queue, one for each class. 0 is the low-latency queue, which has no share.
    """

    discipline: str
    of: Literal["requests", "time"]
    weights: tuple[float, ...]

    @property
    def name(self) -> str:
        """The discipline, what it shares and how."""
        return f"{self.discipline} of {self.of}, {' : '.join(f'{weight:.2g}' for weight in self.weights)}"

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, in the order of the queues."""
        return NAMES[: len(self.weights)]

    @property
    def lengths_us(self) -> tuple[float, ...]:
        """Mean processor time of a request of each class."""
        return LENGTHS_US[self.of][: len(self.weights)]

    def options(self) -> dict[str, Any]:
        """Options of a pool, its queues and rules by field."""
        return {
            **WORKER,
            "discipline": self.discipline,
            "share_of": self.of if self.discipline.startswith("cbwfq") else "requests",
            "queues": [{"weight": weight} for weight in self.weights],
            "rules": [{"class_id": place, "queue": place} for place in range(len(self.weights))],
        }

    def workload(self, seed: int = 0) -> Workload:
        """Clients that send as soon as they are answered, but for those of a low-latency queue, which pause."""
        classes = tuple(
            RequestClass(
                name,
                (Step("cpu", us=length_us, variation=VARIATION),),
                think_ms=0.0 if weight else CONNECTIONS_EACH * length_us / LOW_LATENCY_LOAD / 1e3,
            )
            for name, length_us, weight in zip(self.classes, self.lengths_us, self.weights, strict=True)
        )
        connections = CONNECTIONS_EACH * len(self.weights)
        return Workload(self.name, "disciplines", classes, connections=connections, cpus=1, seed=seed)

    def shares(self, answers: Mapping[str, float]) -> dict[str, float]:
        """What each class with a weight had of what is shared out, by the answers that it got; NaN where none did."""
        cost = {
            name: length_us if self.of == "time" else 1.0
            for name, length_us, weight in zip(self.classes, self.lengths_us, self.weights, strict=True)
            if weight
        }
        total = sum(answers[name] * cost[name] for name in cost)
        return {name: answers[name] * cost[name] / total if total else math.nan for name in cost}

    def points_off(self, shares: Mapping[str, float]) -> float:
        """How far the share of a class is from its weight at most, in points of a hundred."""
        weights = dict(zip(self.classes, self.weights, strict=True))
        return max(abs(share - weights[name]) for name, share in shares.items()) * 100.0


PROMISES: tuple[tuple[str, Literal["requests", "time"]], ...] = (
    ("weighted", "requests"),
    ("cbwfq", "requests"),
    ("cbwfq", "time"),
    ("cbwfq_llq", "requests"),
    ("cbwfq_llq", "time"),
    ("weighted_round_robin", "requests"),
    ("deficit_round_robin", "time"),
)
THREE = (1.0 / 9.0, 3.0 / 9.0, 5.0 / 9.0)
"""Weights of the example in Trub's paper."""


def plans(weights: tuple[tuple[float, ...], ...]) -> tuple[SharePlan, ...]:
    """Every discipline with every vector of weights; in front of a low-latency queue's come no others."""
    return tuple(
        SharePlan(discipline, of, (0.0, *vector) if discipline == "cbwfq_llq" else vector)
        for discipline, of in PROMISES
        for vector in weights
        if not (discipline == "cbwfq_llq" and len(vector) > len(NAMES) - 1)
    )


SIMULATED_PLANS = plans(((0.5, 0.5), (0.75, 0.25), (0.9, 0.1), THREE, (0.2, 0.3, 0.5)))
LIVE_PLANS = plans(((0.75, 0.25), THREE))


WARM_S = 1.0
MACHINE = Machine(overhead_us=0.1)
"""What a request costs outside its program is no part of what is shared out."""


def simulated_shares(plan: SharePlan, seed: int, seconds: float) -> dict[str, float]:
    """What each class had in some seconds of virtual time."""
    options = native_options({"queue_seed": seed, **plan.options()})
    server = SimulatedServer(plan.workload(seed), MACHINE, **options)
    server.run_for(WARM_S)
    before = answers(server, plan.classes)
    server.run_for(seconds)
    after = answers(server, plan.classes)
    return plan.shares({name: after[name] - before[name] for name in plan.classes})


def answers(server: SimulatedServer, classes: Sequence[str]) -> dict[str, float]:
    """Requests of each class that have been answered."""
    histograms = server.snapshot().histograms
    return {name: float(histograms[f"latency_us/{name}"].count) for name in classes}


def share_row(plan: SharePlan, seeds: int, seconds: float) -> dict[str, Any]:
    """A plan under seeds 1 to `seeds`: the share of each class with its interval, and how far off its bounds are."""
    runs = [simulated_shares(plan, seed, seconds) for seed in range(1, seeds + 1)]
    intervals = {name: Interval.of([run[name] for run in runs]) for name in runs[0]}
    return {
        "plan": plan.name,
        "discipline": plan.discipline,
        "of": plan.of,
        "weights": plan.weights,
        "shares": {name: interval.as_dict() for name, interval in intervals.items()},
        "points_off": farthest(plan, intervals),
    }


def farthest(plan: SharePlan, intervals: dict[str, Interval]) -> float:
    """The largest distance of a bound of an interval from its weight, in points of a hundred."""
    lows = {name: interval.low for name, interval in intervals.items()}
    highs = {name: interval.high for name, interval in intervals.items()}
    return max(plan.points_off(lows), plan.points_off(highs))
