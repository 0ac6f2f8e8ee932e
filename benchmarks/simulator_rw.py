"""The gains of Trub (adaptive pool) on 72 processors: fitted to three numbers of connections, predicted for two others.

How to run: `python benchmarks/simulator_rw.py [--json benchmarks/reports/rw.json]` (some minutes). Trub reports how
much throughput sysbench's read-write load gains at its best pool size over a pool as large as the processors. Results
to expect: the gains at 128 and 512 connections within 8 points of Trub's, though only those at 96, 256 and 1,024 were
fitted.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from poolpilot.env.output import write_json
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, simulate_batch
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.simulation import Machine
from poolpilot.native_pool.workload import RequestClass, Step, Workload

CORES = 72
SOURCE = {96: 0.11, 128: 0.14, 256: 0.22, 512: 0.42, 1024: 0.42}
FITTED = (96, 256, 1024)
SIZES = (72, 80, 96, 112, 128, 160, 200, 256, 320, 400, 512)
CPU_US = 300.0
"""Processor time of a request; gains depend on the other times only in proportion to it."""

PARAMETERS = {"silent_us": 150.0, "think_ms": 0.9, "variation": 2.5, "cache_loss": 0.1, "switch_us": 1.0}
"""What is fitted, and where the search begins."""

FOUND = {
    "silent_us": 134.61800519524337,
    "think_ms": 1.3647260430300414,
    "variation": 1.9866131396655715,
    "cache_loss": 0.12508486309412448,
    "switch_us": 1.0273016671803812,
}
"""What the fit found, for benchmarks that build on it."""

LONG = SimulatedMeasurement(settle_s=0.2, max_settle_s=0.2)


def scenario(connections: int, parameters: dict[str, float]) -> Scenario:
    """Read-write requests: processor time, a wait the pool is not told of, the client's pause."""
    variation = min(parameters["variation"], 4.0)
    cpu = Step("cpu", us=CPU_US / 2, variation=variation)
    steps = (cpu, Step("wait", us=parameters["silent_us"], variation=variation), cpu)
    classes = (RequestClass("rw", steps, think_ms=parameters["think_ms"]),)
    machine = Machine(cache_loss=parameters["cache_loss"], switch_us=parameters["switch_us"], quantum_us=1000.0)
    workload = Workload(f"rw-{connections}", "seed", classes, connections=connections, cpus=CORES)
    return Scenario(workload, machine, max_pool_size=max(SIZES))


def gains(connections: Sequence[int], parameters: dict[str, float], requests: int) -> dict[int, tuple[float, int]]:
    """Gain of the best size over one group a core, and that size, by connections."""
    scenarios = [scenario(one, parameters) for one in connections]
    columns = simulate_batch(scenarios, [PoolTuple(size, 3, 500) for size in SIZES], requests, settings=LONG)
    rates = columns["throughput_per_s"].reshape(len(scenarios), len(SIZES))
    return {
        one: (float(rate.max() / rate[0] - 1.0), SIZES[int(rate.argmax())])
        for one, rate in zip(connections, rates, strict=True)
    }


def fit(requests: int, evaluations: int) -> dict[str, float]:
    """The parameters whose gains come nearest to Trub's at three numbers of connections."""
    names = list(PARAMETERS)

    def loss(logs: NDArray[np.float64]) -> float:
        found = gains(FITTED, dict(zip(names, np.exp(logs).tolist(), strict=True)), requests)
        return sum((found[one][0] - SOURCE[one]) ** 2 for one in FITTED)

    begin = np.log(list(PARAMETERS.values()))
    simplex = np.vstack([begin, begin + 0.5 * np.eye(len(begin))])
    options = {"maxfev": evaluations, "initial_simplex": simplex, "fatol": 1e-5, "xatol": 0.01}
    best = minimize(loss, begin, method="Nelder-Mead", options=options)
    return dict(zip(names, np.exp(best.x).tolist(), strict=True))


def main() -> None:
    """Fits, predicts, prints the table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--evaluations", type=int, default=160)
    arguments = parser.parse_args()
    parameters = fit(arguments.requests, arguments.evaluations)
    found = gains(list(SOURCE), parameters, 4 * arguments.requests)
    rows = [
        {"connections": one, "source": SOURCE[one], "simulated": gain, "best_size": size, "fitted": one in FITTED}
        for one, (gain, size) in found.items()
    ]
    print("parameters:", {name: round(value, 3) for name, value in parameters.items()})
    for row in rows:
        used = "fitted" if row["fitted"] else "predicted"
        print(f"{row['connections']:5d} {used:9s} source {row['source']:+.0%} simulated {row['simulated']:+.1%}")
    write_json(arguments.json, {"parameters": parameters, "rows": rows})


if __name__ == "__main__":
    main()
