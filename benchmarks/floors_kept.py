"""What climbs and warm starts leave of a floor, on simulated loads of short requests beside long ones.

A cold climb of two minutes with and without the floor, and a warm start of eight seconds with and without longer
windows where a floor is in doubt; each ends on a tuple, of which a minute is measured beside a minute of the first.

    python benchmarks/floors_kept.py [--seeds 4] [--json PATH]
"""

import argparse
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import fmean

from poolpilot.agent.controllers.warm_start import WarmStart, WarmStartSettings, climb_controller, size_climb
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.controller import Controller
from poolpilot.env.measurement.protocol import MeasurementSettings, observe
from poolpilot.env.objective import Objective
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.loop import tune
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.workload import RequestClass, Step, Workload

LOADS = (
    (100_000.0, 0.1, 0.3),
    (100_000.0, 0.1, 0.8),
    (30_000.0, 0.3, 0.6),
    (300_000.0, 0.05, 0.5),
    (50_000.0, 0.2, 0.3),
)
"""Microseconds of a long request, its share of all requests, and the share of its throughput that it must keep."""

TOLERATED = 0.9
"""Share of a floor below which it counts as broken; a minute counts that well."""

Row = dict[str, float | int | str]
Opened = Callable[[SimulatedServer, Objective], Controller]


def main() -> None:
    """Measures everything, prints a line for each method and writes the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = [row for load in LOADS for seed in range(1, 1 + arguments.seeds) for row in measured(*load, seed)]
    table = [summary(method, [row for row in rows if row["method"] == method]) for method in methods()]
    for line in table:
        terminal().print(", ".join(f"{name} {value}" for name, value in line.items()), soft_wrap=True)
    if arguments.json is not None:
        write_json(arguments.json, {"table": table, "rows": rows})


@cache
def methods() -> dict[str, tuple[Opened, float, bool]]:
    """What opens each method, for how many seconds it runs, and whether it is told of the floor."""
    bandit = LatentBandit(load_curves())
    plain = MeasurementSettings(settle_s=0.1, window_s=0.4, doubt_windows=1.0)

    def cold(server: SimulatedServer, objective: Objective) -> Controller:
        return climb_controller(ClimbSettings(period_s=1.0), server, objective)

    def warm(settings: WarmStartSettings) -> Opened:
        def opened(server: SimulatedServer, objective: Objective) -> Controller:
            climb = size_climb(ClimbSettings(), server.knobs, objective)
            return WarmStart(bandit, server.knobs, objective, climb, settings)

        return opened

    return {
        "cold, floor not told": (cold, 120.0, False),
        "cold": (cold, 120.0, True),
        "warm, windows alike": (warm(WarmStartSettings(measurement=plain)), 8.0, True),
        "warm": (warm(WarmStartSettings()), 8.0, True),
    }


def measured(long_us: float, share: float, floor: float, seed: int) -> list[Row]:
    """A row for every method on one load."""
    floors = Objective(weights={"long": 0.0}, min_share={"long": floor})
    before = observe(server_of(long_us, share, seed), 60.0, settle_s=2.0).window
    rows: list[Row] = []
    for method, (opened, horizon_s, told) in methods().items():
        server = server_of(long_us, share, seed + 100)
        objective = floors if told else floors.model_copy(update={"min_share": {}})
        observe(server, 3.0)
        tune(
            server,
            opened(server, objective),
            objective,
            period_s=1.0 if "cold" in method else 0.25,
            horizon_s=horizon_s,
        )
        after = observe(server, 60.0, settle_s=2.0).window
        rows.append(
            {
                "method": method,
                "long_ms": long_us / 1e3,
                "floor": floor,
                "seed": seed,
                "configuration": str(server.tuple_in_force()),
                "kept": round(floors.kept_share("long", after, before)[0], 3),
                "gain": round(floors.goodput_per_s(after) / floors.goodput_per_s(before), 2),
            }
        )
    return rows


def server_of(long_us: float, share: float, seed: int) -> SimulatedServer:
    """Sixty-four clients on two processors."""
    short = RequestClass("short", (Step("cpu", us=100.0),), share=1.0 - share)
    long = RequestClass("long", (Step("cpu", us=long_us),), share=share)
    return SimulatedServer(Workload("beside", "beside", (short, long), connections=64, cpus=2, seed=seed))


def summary(method: str, rows: list[Row]) -> Row:
    """What a method left of floors, and its mean gain, the default's where it broke one."""
    kept = [float(row["kept"]) / float(row["floor"]) for row in rows]
    gains = [math.log(float(row["gain"])) if share >= TOLERATED else 0.0 for row, share in zip(rows, kept, strict=True)]
    return {
        "method": method,
        "runs": len(rows),
        "floors_broken": sum(share < TOLERATED for share in kept),
        "least_kept_over_floor": round(min(kept), 2),
        "mean_gain": round(math.exp(fmean(gains)), 2),
    }


if __name__ == "__main__":
    main()
