"""Shares under saturation in the simulated pool: each plan under several seeds."""

from collections.abc import Sequence
from typing import Any

from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.native_pool.simulation import Machine
from poolpilot.pipelines.bench.disciplines.share_plan import SharePlan
from poolpilot.pipelines.bench.serving.interval import Interval
from poolpilot.pipelines.bench.serving.served import native_options

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
