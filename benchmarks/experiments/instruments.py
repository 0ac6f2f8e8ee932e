"""What the always-on instruments of the live pool cost, on requests as short as they get: an upper bound."""

import time
from typing import Any

import numpy as np

from harness.experiment import Experiment, Found, Rows, Task
from poolpilot.native_pool import LivePool
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.workload import RequestClass, Step, Workload

WORKLOAD = Workload("instruments", "benchmark", (RequestClass("all", (Step("cpu", us=20),)),), connections=16)
PAIRS = 20


def measured(task: Task) -> Found:
    """Throughput with instruments over without, of neighbouring pools in alternating order."""
    seconds = 0.1 if task.quick else 1.0
    order = (True, False) if task.seed % 2 else (False, True)
    rates = {on: throughput_per_s(instrument=on, seconds=seconds) for on in order}
    return {"ratio": rates[True] / rates[False]}


def throughput_per_s(*, instrument: bool, seconds: float) -> float:
    """Completions a second of a fresh pool on one processor."""
    pool = LivePool(cpus=[0], pool_size=1, instrument=instrument, class_names=["all"])
    pool.start()
    with Load(pool.address, WORKLOAD, cpus={1}):
        time.sleep(0.3)
        before = pool.snapshot()
        time.sleep(seconds)
        after = pool.snapshot()
    pool.close()
    completed = after["counters"]["completed"] - before["counters"]["completed"]
    return float(completed / (after["time_s"] - before["time_s"]))


def summarise(rows: Rows) -> dict[str, Any]:
    """The mean ratio with its interval."""
    ratios = [row.found["ratio"] for row in rows]
    resampled = np.random.default_rng(0).choice(ratios, (10_000, len(ratios))).mean(axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    return {"ratio_on_off": float(np.mean(ratios)), "low": float(low), "high": float(high), "pairs": len(ratios)}


EXPERIMENTS = {
    "instruments": Experiment(
        "What do the instruments of the live pool cost? A minute.",
        scenarios=("20 us",),
        measure=measured,
        summarise=summarise,
        seeds=range(PAIRS),
    )
}
