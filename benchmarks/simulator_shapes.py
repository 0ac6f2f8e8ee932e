"""Shapes of the sources, from the simulator: rise and fall, plateau, 72 cores, collapsing latches, utilisation.

How to run: `python benchmarks/simulator_shapes.py [--json PATH]` (a minute). Results to expect: heavy load rises and
falls and light load stays on its plateau (figures 1 and 2 of the climbing seed); on 72 cores the best size of a
CPU-bound load is about the cores and of an IO-bound one far above (source: 72 and about 180); the latch falls from
2,000 requests a second at 100 threads to 200 at 500; the total of three latches falls when the first is repaired;
response time bends upwards as utilisation rises.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from poolpilot.env.simulation import Scenario, SimulatedMeasurement, simulate_batch
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.simulation import LoadChange, Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload

CORES = 72
SIZES = (8, 16, 24, 36, 48, 60, 72, 84, 96, 120, 144, 180, 216, 288, 360, 512)
MACHINE = Machine(switch_us=5.0, quantum_us=1000.0, cache_loss=0.5)
NUMA = Machine(overhead_us=1.0, waiter_growth=0.45)
LONG = SimulatedMeasurement(settle_s=0.5, max_settle_s=1.0)
RESPONSE_CORES = 4
ALL_AT_S = 60.0


def closed(name: str, connections: int, *steps: Step, think_ms: float = 0.0, cpus: int = CORES) -> Workload:
    """A closed loop of one class."""
    return Workload(name, "shape", (RequestClass("all", steps, think_ms=think_ms),), connections=connections, cpus=cpus)


def curve(workload: Workload, machine: Machine = MACHINE, requests: int = 60_000) -> dict[int, float]:
    """Throughput a second over the pool size."""
    tuples = [PoolTuple(size, 1, 500) for size in SIZES]
    scenario = Scenario(workload, machine, max_pool_size=max(SIZES))
    columns = simulate_batch([scenario], tuples, requests, settings=LONG)
    return dict(zip(SIZES, columns["throughput_per_s"].tolist(), strict=True))


def best_of(points: dict[int, float]) -> int:
    """The smallest size within 1 % of the best."""
    most = max(points.values())
    return min(size for size, rate in points.items() if rate >= 0.99 * most)


def through(number: int, waiter_cost_us: float, hold_us: float) -> tuple[Step, ...]:
    """One latch taken and released."""
    acquire = Step("acquire", latch=number, spin_us=30, waiter_cost_us=waiter_cost_us)
    return (acquire, Step("cpu", us=hold_us), Step("release", latch=number))


def rate_per_s(workload: Workload) -> float:
    """Requests a second when every connection has a group of its own and all begin at once, after a minute."""
    changes = (LoadChange(at_s=0.0, connections=1), LoadChange(at_s=ALL_AT_S, connections=workload.connections))
    scenario = Scenario(workload, NUMA, changes, max_pool_size=512)
    settle = SimulatedMeasurement(settle_s=ALL_AT_S + 20.0, max_settle_s=1e6)
    columns = simulate_batch([scenario], [PoolTuple(workload.connections, 1, 500)], 4000, settings=settle)
    return float(columns["throughput_per_s"][0])


def latch_per_s(threads: int) -> float:
    """Requests a second that pass one latch when so many threads want it, on 72 cores."""
    return rate_per_s(closed("latch", threads, *through(0, 2.95, 50.0)))


def three_latches_per_s(first_waiter_cost_us: float, threads: int = 500) -> float:
    """Requests a second through a first latch and then one of two others, which half of the threads each take."""
    first = through(0, first_waiter_cost_us, 50.0)
    classes = tuple(
        RequestClass(f"latch {number}", (*first, *through(number, 130.0, 2000.0)), share=0.5) for number in (1, 2)
    )
    return rate_per_s(Workload("three latches", "shape", classes, connections=threads, cpus=CORES))


def response_ms(utilisation: float) -> float:
    """Mean response of an open loop of CPU work at a utilisation."""
    cpu_us = 1500.0
    rate_per_s = utilisation * RESPONSE_CORES * 1e6 / cpu_us
    classes = (RequestClass("all", (Step("cpu", us=cpu_us, variation=1.0),)),)
    workload = Workload("open", "shape", classes, connections=2000, rate_per_s=rate_per_s, cpus=RESPONSE_CORES)
    server = Scenario(workload, Machine(overhead_us=1.0), max_pool_size=512).open(PoolTuple(256, 3, 10))
    server.run_for(2.0)
    before = server.snapshot().histograms["latency_us/all"]
    server.run_requests(300_000)
    return (server.snapshot().histograms["latency_us/all"] - before).mean / 1e3


def bend(points: dict[float, float]) -> float:
    """Where the curve bends: the utilisation farthest below the chord between its ends, both axes scaled to 0..1."""
    shares, times = list(points), list(points.values())

    def below_chord(share: float, ms: float) -> float:
        along = (share - shares[0]) / (shares[-1] - shares[0])
        return along - (ms - times[0]) / (times[-1] - times[0])

    return max(points, key=lambda share: below_chord(share, points[share]))


def main() -> None:
    """Prints what to compare with the sources and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    cpu, wait = Step("cpu", us=400.0, variation=0.5), Step("wait", us=600.0, variation=0.5)
    latch = (Step("acquire", spin_us=100, waiter_cost_us=0.3), Step("cpu", us=3.0), Step("release"))
    curves = {
        "heavy load": curve(closed("heavy", 1024, cpu, wait, *latch)),
        "light load": curve(closed("light", 64, cpu, wait, think_ms=1.0)),
        "CPU-bound": curve(closed("cpu-bound", 1024, Step("cpu", us=400.0, variation=0.5))),
        "IO-bound": curve(closed("io-bound", 1024, cpu, wait)),
    }
    response = {share / 100: response_ms(share / 100) for share in (*range(10, 96, 5), 96)}
    result: dict[str, Any] = {
        "curves": curves,
        "best_size": {name: best_of(points) for name, points in curves.items()},
        "latch_per_s": {threads: latch_per_s(threads) for threads in (50, 100, 200, 300, 500)},
        "three_latches_per_s": {"before": three_latches_per_s(2.95), "first repaired": three_latches_per_s(0.3)},
        "response_ms": response,
        "bend": bend(response),
    }
    for name, points in curves.items():
        rates = "  ".join(f"{size}: {rate:,.0f}" for size, rate in points.items())
        print(f"{name} (best {result['best_size'][name]}): {rates}")
    print("latch, requests a second by threads:", {k: round(v) for k, v in result["latch_per_s"].items()})
    print("three latches:", {k: round(v) for k, v in result["three_latches_per_s"].items()})
    print("response, ms by utilisation:", {k: round(v, 2) for k, v in response.items()}, "bends at", result["bend"])
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
