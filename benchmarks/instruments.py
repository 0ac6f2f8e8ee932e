"""What the always-on instruments of the live pool cost: throughput with and without them, interleaved pairs.

How to run: `python benchmarks/instruments.py [--pairs 20] [--json PATH]`. Results to expect: a ratio on/off with its
interval; requests are as short as they get (20 us of CPU), so the share lost is an upper bound for real workloads.
"""

import argparse
import time
from pathlib import Path

import numpy as np

from poolpilot.env.output import write_json
from poolpilot.native_pool import LivePool
from poolpilot.native_pool.load import Load
from poolpilot.native_pool.workload import RequestClass, Step, Workload

WORKLOAD = Workload("instruments", "benchmark", (RequestClass("all", (Step("cpu", us=20),)),), connections=16)


def throughput_per_s(instrument: bool, seconds: float) -> float:
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


def main() -> None:
    """Measures pairs in alternating order and prints the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    ratios = []
    for pair in range(arguments.pairs):
        order = (True, False) if pair % 2 else (False, True)
        measured = {on: throughput_per_s(on, arguments.seconds) for on in order}
        ratios.append(measured[True] / measured[False])
        print(f"pair {pair + 1:2d}: on {measured[True]:8.0f}/s  off {measured[False]:8.0f}/s  {ratios[-1]:.3f}")
    resampled = np.random.default_rng(0).choice(ratios, (10_000, len(ratios))).mean(axis=1)
    low, high = np.quantile(resampled, [0.025, 0.975])
    result = {"ratio_on_off": float(np.mean(ratios)), "low": float(low), "high": float(high), "pairs": len(ratios)}
    print(f"on/off = {result['ratio_on_off']:.3f} (95 % interval {low:.3f} .. {high:.3f})")
    write_json(arguments.json, result)


if __name__ == "__main__":
    main()
