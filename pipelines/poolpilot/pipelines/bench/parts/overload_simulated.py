"""The overload of `overload.py` on the simulated pool, in virtual time.

There is one load here for both classes, with so many connections that none is ever missing. The class of a request is
peeked at, so it does not matter that a connection sends both.
"""

from functools import cache

from poolpilot.featurizer.window import Window
from poolpilot.pipelines.bench.parts.overload import (
    CLASSES,
    CONTENDERS,
    CROWDS,
    FLOOD_PER_S,
    SHARES,
    Offered,
    arrivals,
)
from poolpilot.pipelines.bench.parts.simulated_trial import simulated_window
from poolpilot.pipelines.bench.serving.trial import Measures

CONNECTIONS = 16_384
SETTLE_S = 1.0
WINDOW_S = 4.0


@cache
def capacity_per_s(seed: int, window_s: float = WINDOW_S) -> float:
    """Requests a second that the pool carries at most."""
    loads = [arrivals(FLOOD_PER_S, SHARES, connections, seed) for connections in CROWDS]
    return max(simulated_window(load, CONTENDERS["all three"], SETTLE_S, window_s).throughput_per_s for load in loads)


def measure(contender: str, seed: int, window_s: float = WINDOW_S) -> Measures:
    """A fresh pool under what it is offered.

    Args:
        contender: Name in `CONTENDERS`.
        seed: Of the load.
        window_s: Virtual seconds that are counted.
    """
    capacity = capacity_per_s(seed, window_s)
    offered = Offered.of(contender, capacity)
    shares = (offered.high_per_s / offered.rate_per_s, offered.low_per_s / offered.rate_per_s)
    load = arrivals(offered.rate_per_s, shares, CONNECTIONS, seed)
    window = simulated_window(load, CONTENDERS[contender], SETTLE_S, window_s)
    measures = {
        "capacity_per_s": capacity,
        "busy_cpus": window.profile.features["utilisation"] or 0.0,
        "threads": window.threads or 0.0,
        "throughput_per_s": window.throughput_per_s,
    }
    for one in CLASSES:
        measures.update(answered(window, one.name, one.target_ms or 0.0))
    return measures


def answered(window: Window, name: str, target_ms: float) -> Measures:
    """What became of a class."""
    found = window.classes.get(name)
    if found is None:
        return {f"{name}_goodput_per_s": 0.0, f"{name}_throughput_per_s": 0.0, f"{name}_p99_ms": float("nan")}
    return {
        f"{name}_goodput_per_s": found.latency.count_below(target_ms * 1e3) / window.duration_s,
        f"{name}_throughput_per_s": found.throughput_per_s,
        f"{name}_p99_ms": found.latency.quantile(0.99) / 1e3,
    }
