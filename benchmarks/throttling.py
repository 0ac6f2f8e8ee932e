"""What a limit on the transactions inside is worth as connections grow, in the simulator.

How to run: `python benchmarks/throttling.py [--json benchmarks/reports/throttling.json] [--seeds 5]` (minutes; the same
numbers every time). `poolpilot bench pool --parts throttling` measures the first part live; `benchmarks/pool_page.py`
puts both on docs/results-pool.md.

The first part is the live benchmark's load on the calibrated machine: 16 to 2,048 connections that all want one latch,
whose holder pays for every waiter, with one limit for all of them and without. Results to expect: with the limit
throughput stays near the peak at every number of connections, without it falls.

The second part has the shape of Wang (book; docs/references.md), section 4.6.5: thousands of connections and a limit of
256, TPC-C on a machine that the book does not describe. 64 processors, the steps of a transaction and its latch chosen
so that 256 transactions are what the machine bears. One number is fitted, what a waiter costs the latch's holder: to
the gain at 8,000 connections (29 %), to that at 10,000 (17 %), or to both by least squares; each fit predicts what it
was not fitted to. Results to expect: the gain at 8,000 can be had to a tenth of a point, but no price gives both, since
the book's pool alone does better at 10,000 connections than at 8,000.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from rich.progress import track
from scipy.optimize import brentq, minimize_scalar

from poolpilot.env.output import write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.simulation import CALIBRATED, Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.bench.parts.throttling import ALONE, LIMITED, convoy, of_peak
from poolpilot.pipelines.bench.serving.bench_settings import PoolBenchSettings
from poolpilot.pipelines.bench.serving.interval import Interval

Measures = dict[str, float]

CONVOY_WARM_S, CONVOY_S = 5.0, 20.0
CROWDS = (64, 256, 1000, 2000, 4000, 8000, 10_000)
CROWD_CPUS, CROWD_LIMIT = 64, 256
CROWD_S = 1.0
SOURCE = {8000: 1.29, 10_000: 1.17}
"""Throughput with a limit of 256 over the pool alone, by connections, read off the book's figures."""

CHEAPEST_US, DEAREST_US = 1e-4, 1e-3
"""Between these prices of a waiter every fit lies."""

PRICE_STEP_US = 1e-6
"""To which a price is fitted; worth less than a tenth of a point of the gain."""


def measured(server: SimulatedServer, warm_s: float, seconds: float, name: str) -> Measures:
    """Throughput and 99th percentile after a while."""
    server.run_for(warm_s)
    before = server.snapshot()
    server.run_for(seconds)
    after = server.snapshot()
    latencies = after.histograms[f"latency_us/{name}"] - before.histograms[f"latency_us/{name}"]
    return {
        "throughput_per_s": (after.counters["completed"] - before.counters["completed"]) / seconds,
        "p99_ms": latencies.quantile(0.99) / 1e3,
    }


def convoy_run(connections: int, limit: int, seed: int) -> Measures:
    """The live benchmark's load on the machine that was fitted to live windows."""
    server = SimulatedServer(convoy(connections, seed), CALIBRATED, admission_limit=limit)
    return measured(server, CONVOY_WARM_S, CONVOY_S, "convoy")


@cache
def crowd_run(waiter_cost_us: float, connections: int, limit: int, seed: int) -> Measures:
    """Transactions of the book's kind on many processors."""
    steps = (
        Step("begin"),
        Step("cpu", us=400.0, variation=0.5),
        Step("wait", us=1000.0, variation=0.5, kind="disk_io", reported=True),
        Step("acquire", spin_us=20, waiter_cost_us=waiter_cost_us, reported=True),
        Step("cpu", us=8.0),
        Step("release"),
        Step("cpu", us=200.0, variation=0.5),
        Step("commit"),
    )
    classes = (RequestClass("transaction", steps),)
    workload = Workload("crowd", "admission", classes, connections=connections, cpus=CROWD_CPUS, seed=seed)
    server = SimulatedServer(workload, Machine(), initial=PoolTuple(CROWD_CPUS, 3, 500), admission_limit=limit)
    return measured(server, CROWD_S, CROWD_S, "transaction")


def gain(waiter_cost_us: float, connections: int, seed: int = 1) -> float:
    """Throughput with the book's limit over the pool alone."""
    limited, alone = (
        crowd_run(waiter_cost_us, connections, limit, seed)["throughput_per_s"] for limit in (CROWD_LIMIT, 0)
    )
    return limited / alone


def misses(waiter_cost_us: float) -> float:
    """Squared distance from both numbers of the book."""
    return sum((gain(waiter_cost_us, connections) - wanted) ** 2 for connections, wanted in SOURCE.items())


def fitted() -> dict[str, float]:
    """Prices of a waiter, by what they are fitted to."""
    prices = {
        f"{connections}": float(
            brentq(
                lambda price, at=connections: gain(price, at) - SOURCE[at], CHEAPEST_US, DEAREST_US, xtol=PRICE_STEP_US
            )
        )
        for connections in SOURCE
    }
    bounds = (min(prices.values()), max(prices.values()))
    return {
        **prices,
        "both": float(minimize_scalar(misses, bounds=bounds, method="bounded", options={"xatol": 5 * PRICE_STEP_US}).x),
    }


def over_seeds(run: Callable[[int], Measures], seeds: int) -> dict[str, list[float]]:
    """Each measure under seeds 1 to `seeds`."""
    runs = [run(seed) for seed in range(1, seeds + 1)]
    return {name: [one[name] for one in runs] for name in runs[0]}


def convoys(connections: Sequence[int], limit: int, seeds: int) -> list[dict[str, Any]]:
    """The first part, by number of connections."""
    runs = {
        str(number): {
            name: over_seeds(partial(convoy_run, number, most), seeds) for name, most in ((ALONE, 0), (LIMITED, limit))
        }
        for number in track(connections, "convoy")
    }
    peaks = of_peak(
        {cell: {name: one["throughput_per_s"] for name, one in found.items()} for cell, found in runs.items()}
    )
    return [
        {
            "connections": int(cell),
            "contenders": {
                name: {**in_intervals(one), "of_peak": peaks[cell][name].as_dict()} for name, one in found.items()
            },
        }
        for cell, found in runs.items()
    ]


def in_intervals(columns: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Means with intervals."""
    return {name: Interval.of(values).as_dict() for name, values in columns.items()}


def crowds(waiter_cost_us: float, seeds: int) -> list[dict[str, Any]]:
    """Throughput of the book's shape, by number of connections."""
    return [
        {
            "connections": number,
            "contenders": {
                name: in_intervals(over_seeds(partial(crowd_run, waiter_cost_us, number, limit), seeds))
                for name, limit in ((ALONE, 0), (LIMITED, CROWD_LIMIT))
            },
        }
        for number in track(CROWDS, "crowd")
    ]


def gains(waiter_cost_us: float, seeds: int) -> dict[str, dict[str, float]]:
    """What the limit brings at the book's numbers of connections, with intervals."""
    return {
        str(number): Interval.of([gain(waiter_cost_us, number, seed) for seed in range(1, seeds + 1)]).as_dict()
        for number in SOURCE
    }


def main() -> None:
    """Runs both parts and prints the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/throttling.json"))
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    settings = PoolBenchSettings()
    prices = fitted()
    result = {
        "seeds": arguments.seeds,
        "limit": settings.throttled_to,
        "convoy": convoys(settings.throttled, settings.throttled_to, arguments.seeds),
        "source": {str(number): wanted for number, wanted in SOURCE.items()},
        "fits": [
            {"fitted_to": name, "waiter_cost_us": price, "gains": gains(price, arguments.seeds)}
            for name, price in prices.items()
        ],
        "crowd": crowds(prices["8000"], arguments.seeds),
    }
    write_json(arguments.json, result)
    for part in ("convoy", "crowd"):
        for row in result[part]:
            alone, limited = (row["contenders"][name]["throughput_per_s"]["mean"] for name in (ALONE, LIMITED))
            print(f"{part} at {row['connections']:6}: {alone:8.0f}/s alone, {limited:8.0f}/s with the limit")
    for fit in result["fits"]:
        told = ", ".join(f"{one['mean'] - 1.0:+.1%} at {number}" for number, one in fit["gains"].items())
        print(f"a waiter costs {fit['waiter_cost_us'] * 1e3:.3f} ns, fitted to {fit['fitted_to']}: {told}")


if __name__ == "__main__":
    main()
