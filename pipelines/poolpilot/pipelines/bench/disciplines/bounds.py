"""The longest stay of a patient request in the simulated pool, beside the bound of its discipline."""

import math
from typing import Any

import numpy as np

from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.histogram import LOWER_BOUNDS, Histogram
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.simulation import Machine
from poolpilot.pipelines.bench.disciplines.bound_plan import OVERHEAD_MS, PATIENT_NAME, TICK_MS, BoundPlan
from poolpilot.pipelines.bench.serving.served import native_options

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
