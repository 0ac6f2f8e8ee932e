"""The first ten minutes of a climb on 72 processors, simulated: how much of the possible gain is captured.

How to run: `python benchmarks/rw_climb.py [--json benchmarks/reports/rw_climb.json]` (a quarter of an hour on two
processors). The workload is the read-write one that `simulator_rw.py` fitted to the gains of Trub (adaptive pool).
Every climb starts at one group a processor; its mean throughput over ten minutes, less that of the start, over the gain
of the best size is what it captured. Trub reports 93, 89 and 64 % at 256, 512 and 1,024 connections. Cold: our climber.
Article: Trub's own settings, a sample every two seconds. Warm: a window of a second, the advice of boosted trees that
learned from sweeps at other numbers of connections, a climb from there. Results to expect: cold at least 95, 95 and 90
%, warm at least 98 %.
"""

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from poolpilot.agent.baselines.trees import BoostedTrees, TreesSettings
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, native_settings, spectral_climber
from poolpilot.env.measurement.protocol import MeasurementSettings, observe, sweep
from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.env.objective import Objective
from poolpilot.env.output import write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.loop import TuningTrace, tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool import SpectralSettings
from simulator_rw import CORES, FOUND, SIZES, scenario

SOURCE = {256: 0.93, 512: 0.89, 1024: 0.64}
STAGED = (96, 128, 192, 384, 768, 1536)
"""Connections that staging has swept; those of Trub's report are held out."""

GRID = ActionGrid(sizes=SIZES, oversubscribes=(3,), timer_intervals_ms=(500,))
HORIZON_S = 600.0
PERIOD_S = 0.1
LOOK_S = 1.0
OBJECTIVE = Objective()

Climb = Callable[[SimulatedServer], list[tuple[float, float, int]]]
"""Runs ten minutes and returns (seconds, throughput, size) of every window."""


def cold(server: SimulatedServer) -> list[tuple[float, float, int]]:
    """Our climber from where the server is."""
    return _climbed(server, ClimbSettings(period_s=PERIOD_S).native(), HORIZON_S, warm=False)


def article(server: SimulatedServer) -> list[tuple[float, float, int]]:
    """Trub's own settings."""
    settings = native_settings(SpectralSettings.article(), hcm_hillclimbing_enabled=True)
    return _climbed(server, settings, HORIZON_S, warm=False)


def warm(server: SimulatedServer) -> list[tuple[float, float, int]]:
    """A look, advice from what staging has learned, a climb from there."""
    look = observe(server, LOOK_S).window
    advised = trained().predict([look], server.knobs, OBJECTIVE).pool_tuple
    server.apply(advised)
    settings = ClimbSettings(period_s=PERIOD_S, verify_warm_start=True).native()
    rest = _climbed(server, settings, HORIZON_S - LOOK_S, warm=True)
    return [(look.duration_s, look.throughput_per_s, look.pool_tuple.pool_size), *rest]


CLIMBS: dict[str, Climb] = {"cold": cold, "article": article, "warm": warm}


def _climbed(
    server: SimulatedServer, settings: SpectralSettings, horizon_s: float, *, warm: bool
) -> list[tuple[float, float, int]]:
    climber = spectral_climber(settings, server.knobs, server.tuple_in_force().pool_size, warm=warm)
    controller = ClimbController(climber, server.tuple_in_force(), OBJECTIVE)
    trace: TuningTrace = tune(server, controller, OBJECTIVE, period_s=PERIOD_S, horizon_s=horizon_s)
    return [(step.duration_s, step.measured.window.throughput_per_s, step.pool_tuple.pool_size) for step in trace.steps]


def trained() -> BoostedTrees:
    """Trees that learned from the staged sweeps."""
    measurement = MeasurementSettings(settle_s=0.2, window_s=0.5, keep_shares=(1.0,), finalists=1, final_repeats=1)
    sweeps = []
    for connections in STAGED:
        with scenario(connections, FOUND).open() as server:
            tuples = [one for one in GRID.tuples if server.knobs.allows(one)]
            results = sweep(server, tuples, OBJECTIVE, measurement, np.random.default_rng(connections))
            sweeps.append(
                WorkloadSweep.build(
                    [(one.round, one.window) for one in results],
                    workload_id=f"rw-{connections}",
                    family="rw",
                    split="train",
                    limits=server.knobs,
                    objective=OBJECTIVE,
                )
            )
    return BoostedTrees.fit(sweeps, TreesSettings(), GRID)


def steady(connections: int, size: int) -> float:
    """Throughput a second of a size held for a while."""
    with scenario(connections, FOUND).open(PoolTuple(size, 3, 500)) as server:
        server.run_for(1.0)
        return observe(server, 10.0).window.throughput_per_s


def measure(task: tuple[int, str]) -> dict[str, Any]:
    """One climb at one number of connections."""
    connections, name = task
    start = steady(connections, CORES)
    best = max(steady(connections, size) for size in SIZES)
    with scenario(connections, FOUND).open(PoolTuple(CORES, 3, 500)) as server:
        windows = CLIMBS[name](server)
    seconds = np.array([one[0] for one in windows])
    rates = np.array([one[1] for one in windows])
    mean = float((rates * seconds).sum() / seconds.sum())
    return {
        "connections": connections,
        "climb": name,
        "possible_gain": best / start - 1.0,
        "captured": (mean - start) / (best - start),
        "size_at_rest": float(np.median([one[2] for one in windows[-len(windows) // 10 :]])),
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as people read them."""
    lines = ["connections  possible gain  Trub's own  article here   cold   warm"]
    for connections, source in SOURCE.items():
        of = {row["climb"]: row for row in rows if row["connections"] == connections}
        lines.append(
            f"{connections:11d}  {of['cold']['possible_gain']:13.1%}  {source:10.0%}  {of['article']['captured']:12.1%}"
            f"  {of['cold']['captured']:5.1%}  {of['warm']['captured']:5.1%}"
        )
    return "\n".join(lines)


def main() -> None:
    """Runs every climb, prints the table and writes the JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    tasks = list(product(SOURCE, CLIMBS))
    rows = []
    with ProcessPoolExecutor(2) as processes:
        for row in processes.map(measure, tasks):
            rows.append(row)
            print(row, flush=True)
    print(table(rows))
    write_json(arguments.json, rows)


if __name__ == "__main__":
    main()
