"""A warm hold on the live pool while another process takes one of its processors for a second, ten times.

How to run: `python benchmarks/climb_hiccups.py [--workload plateau] [--seconds 300] [--bursts 10] [--json PATH]`
(eleven minutes, nothing beside). The same hold is run twice, each on a fresh pool: with the second look that a held
size gets before it is left (`hcm_hiccup`), and without, as it was. Results to expect: with it under 2 % of the windows
outside the bursts have less than 80 % of the goodput that was held, and the size is back within 10 % of the held one
after 60 samples.
"""

import argparse
import multiprocessing
import os
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.measurement.protocol import MeasurementSettings, measure
from poolpilot.env.objective import Objective
from poolpilot.env.output import write_json
from poolpilot.env.servers.native import NativeServer
from poolpilot.env.tuning.loop import TuningStep, tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import RequestClass, Step, Workload

WORK = (Step("cpu", us=60, variation=1.0), Step("wait", us=4000, variation=0.5))
CONVOY = (Step("acquire", spin_us=20, waiter_cost_us=1.0), Step("cpu", us=15), Step("release"))
STEPS = {"plateau": WORK, "optimum": (*WORK, *CONVOY)}
"""What a request does: silent waits, of which many sizes serve as many; or a latch besides, which collapses beyond."""

SIZES = (8, 16, 24, 32, 48, 64, 96)
PERIOD_S = 0.25
BURST_S = 1.0
QUIET_S = 5.0
"""Seconds before the first burst, which say what is held."""

POOR = 0.8
BACK_AFTER = 60
VARIANTS = {"with the second look": 1.5, "without": 0.0}


def burn(seconds: float, cpu: int) -> None:
    """Takes a processor."""
    os.sched_setaffinity(0, {cpu})
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def workload_of(kind: str) -> Workload:
    """The workload, more than two processors can serve."""
    return Workload(kind, "benchmark", (RequestClass("all", STEPS[kind], target_ms=60.0),), connections=192, cpus=2)


def best_size(workload: Workload) -> int:
    """The size with the greatest goodput; small ones first, since a collapsed latch outlives its size."""
    objective = Objective.of_classes(workload.classes)
    settings = MeasurementSettings(window_s=1.5)
    found = {}
    with NativeServer(workload, initial=PoolTuple(SIZES[0], 3, 10)) as server:
        for size in SIZES:
            found[size] = objective.goodput_per_s(measure(server, PoolTuple(size, 3, 10), settings).window)
            print(f"size {size}: {found[size]:.0f}/s", flush=True)
    return max(found, key=lambda size: found[size])


def held(workload: Workload, size: int, hiccup_s: float, seconds: float, bursts: int) -> dict[str, Any]:
    """One hold; what became of it."""
    begun: list[float] = []
    over = threading.Event()

    def disturb(start_s: float) -> None:
        every_s = (seconds - QUIET_S) / bursts
        for number in range(bursts):
            if over.wait(max(start_s + QUIET_S + number * every_s - time.monotonic(), 0.0)):
                return
            begun.append(time.monotonic() - start_s)
            process = multiprocessing.Process(target=burn, args=(BURST_S, 0))
            process.start()
            process.join()

    objective = Objective.of_classes(workload.classes)
    first = PoolTuple(size, 3, 10)
    with NativeServer(workload, initial=first) as server:
        time.sleep(1.0)
        settings = ClimbSettings(period_s=PERIOD_S, hiccup_s=hiccup_s)
        controller = ClimbController(spectral_climber(settings, server.knobs, size, warm=True), first, objective)
        disturber = threading.Thread(target=disturb, args=(time.monotonic(),))
        disturber.start()
        try:
            trace = tune(server, controller, objective, period_s=PERIOD_S, horizon_s=seconds)
        finally:
            over.set()
            disturber.join()
    return judged(trace.steps, begun, size)


def judged(steps: tuple[TuningStep, ...], begun: list[float], size: int) -> dict[str, Any]:
    """Shares of poor windows, and whether the size came back after every burst."""
    wanted = median(step.goodput_per_s for step in steps if step.end_s <= QUIET_S)

    def disturbed(step: TuningStep) -> bool:
        return any(at - PERIOD_S < step.end_s <= at + BURST_S + 2 * PERIOD_S for at in begun)

    outside = [step for step in steps if not disturbed(step)]
    poor = [step for step in outside if step.goodput_per_s < POOR * wanted]
    came_back = [
        any(
            abs(step.pool_tuple.pool_size - size) <= 0.1 * size
            for step in steps
            if at + BURST_S < step.end_s <= at + BURST_S + BACK_AFTER * PERIOD_S
        )
        for at in begun
    ]
    return {
        "held_size": size,
        "held_goodput_per_s": wanted,
        "bursts": len(begun),
        "windows_outside": len(outside),
        "poor_outside": len(poor) / len(outside),
        "poor_in_bursts": sum(disturbed(one) and one.goodput_per_s < POOR * wanted for one in steps) / len(steps),
        "came_back": sum(came_back),
        "end_size": steps[-1].pool_tuple.pool_size,
        "away": sum(abs(step.pool_tuple.pool_size - size) > 0.1 * size for step in steps) / len(steps),
    }


def main() -> None:
    """Runs both holds and prints what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", choices=STEPS, default="plateau")
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--bursts", type=int, default=10)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    workload = workload_of(arguments.workload)
    size = best_size(workload)
    result = {}
    for name, hiccup_s in VARIANTS.items():
        result[name] = row = held(workload, size, hiccup_s, arguments.seconds, arguments.bursts)
        print(
            f"{name}: {row['poor_outside']:.1%} of the windows outside the bursts under {POOR:.0%} of "
            f"{row['held_goodput_per_s']:.0f}/s, {row['away']:.1%} away from {size}, back after {row['came_back']} of "
            f"{row['bursts']} bursts, ends at {row['end_size']}",
            flush=True,
        )
    write_json(arguments.json, result)


if __name__ == "__main__":
    main()
