"""Chooses the interval and the wave of the cold climb on training workloads, for the demonstration to compare with.

How to run: `python benchmarks/choose_climb.py [--workloads 4] [--horizon 16] [--json PATH]`. Results to expect: a row
per setting with the goodput a cold climb from the default kept, as a share of the best any setting kept on the same
workload; the highest mean is what `ClimbSettings` should hold.
"""

import argparse
import itertools
from pathlib import Path

import numpy as np

from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.objective import Objective
from poolpilot.env.output import write_json
from poolpilot.env.tuning.loop import tune
from poolpilot.env.workloads.families import workload_set
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.collect.servers import open_native
from poolpilot.pipelines.evaluate.timeline import mean_goodput

PERIODS_S = (0.1, 0.2, 0.4)
WAVES = (10.0, 18.0)
FAMILIES = ("silent_single", "latch_single", "short_beside_long", "silent_then_latch", "cpu_single", "latch_beside_cpu")


def climbed_goodput(workload: Workload, settings: ClimbSettings, horizon_s: float) -> float:
    """Mean goodput of a cold climb from the default, on a fresh pool."""
    objective = Objective.of_classes(workload.classes)
    default = PoolTuple(workload.cpus, 3, 500, idle_timeout_s=1.0)
    with open_native(workload, default) as server:
        climber = spectral_climber(settings, server.knobs)
        controller = ClimbController(climber, server.tuple_in_force(), objective)
        trace = tune(server, controller, objective, period_s=settings.period_s, horizon_s=horizon_s)
        return mean_goodput(trace.steps)


def main() -> None:
    """Runs every setting on every workload and prints the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=4)
    parser.add_argument("--horizon", type=float, default=16.0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    training = [one.workload for one in workload_set(1, {"train": 80})]
    chosen = [next(one for one in training if one.family == family) for family in FAMILIES[: arguments.workloads]]
    candidates = [
        ClimbSettings(period_s=period_s, min_thread_wave_magnitude=wave)
        for period_s, wave in itertools.product(PERIODS_S, WAVES)
    ]
    kept = np.array([[climbed_goodput(workload, one, arguments.horizon) for workload in chosen] for one in candidates])
    shares = kept / kept.max(axis=0)
    rows = [
        {"period_s": one.period_s, "wave": one.min_thread_wave_magnitude, "share": float(share.mean())}
        for one, share in zip(candidates, shares, strict=True)
    ]
    for row in sorted(rows, key=lambda one: one["share"], reverse=True):
        print(f"period {row['period_s']:.1f} s  wave {row['wave']:4.0f} of 36  kept {100 * row['share']:.1f} %")
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
