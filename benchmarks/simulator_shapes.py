"""Shapes of published curves, from the simulator: rise and fall, plateau, 72 cores.

How to run: `python benchmarks/simulator_shapes.py [--json PATH]` (a minute). Results to expect: heavy load rises and
falls and light load stays on its plateau (figures 1 and 2 of Trub (adaptive pool)); on 72 cores the best size of a
CPU-bound load is about the cores and of an IO-bound one far above (Trub: 72 and about 180).
"""

import argparse
from pathlib import Path
from typing import Any

from poolpilot.env.output import write_json
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, simulate_batch
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload

CORES = 72
SIZES = (8, 16, 24, 36, 48, 60, 72, 84, 96, 120, 144, 180, 216, 288, 360, 512)
MACHINE = Machine(switch_us=5.0, quantum_us=1000.0, cache_loss=0.5)
LONG = SimulatedMeasurement(settle_s=0.5, max_settle_s=1.0)


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


def main() -> None:
    """Prints what to compare with what was published and writes the JSON."""
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
    result: dict[str, Any] = {
        "curves": curves,
        "best_size": {name: best_of(points) for name, points in curves.items()},
    }
    for name, points in curves.items():
        rates = "  ".join(f"{size}: {rate:,.0f}" for size, rate in points.items())
        print(f"{name} (best {result['best_size'][name]}): {rates}")
    write_json(arguments.json, result)


if __name__ == "__main__":
    main()
