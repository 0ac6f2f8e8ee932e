"""Where a climb could be trapped: dips of measured curves, and defaults under which no request is in time.

How to run: `python benchmarks/climb_traps.py [--curves FOLDER] [--live] [--json PATH]` (ten minutes; with --live half
an hour, nothing beside; run it again to go on). Curves are throughputs measured on MariaDB, a list of [size,
throughput] a file; each is climbed from sizes 1, 2, 16 and the largest with noise of 6 and 15 %. The other workloads
are drawn here, of compositions that no family has, so that the default lets hardly a request be in time and another
size many, by the simulator; they are climbed from the default for three quarters of a minute. Results to expect: 95 %
of the climbs on curves within 5 % of the best, none under 80 %; no climb of the others ends without goodput.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.spectral import ClimbSettings, spectral_climber
from poolpilot.env.measurement.protocol import MeasurementSettings, measure
from poolpilot.env.objective import Objective
from poolpilot.env.output import write_json
from poolpilot.env.server import PoolServer
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.servers.native import NativeServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.tuning.loop import tune
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool.workload import RequestClass, Step, Workload

CURVES = Path(__file__).parent / "curves"
NOISES = (0.06, 0.15)
STARTS = (1, 2, 16, None)
SAMPLES = 240
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
WORKLOADS = 20
HOPELESS = 0.01
"""Share of the best goodput that the default reaches at most."""

CLIMB = ClimbSettings(period_s=0.25)
PERIOD_S = 0.25
CLIMB_S = 45.0
LAST_S = 10.0
JUDGED = MeasurementSettings(settle_s=0.3, window_s=1.5)

Open = Callable[[Workload], PoolServer]


def climbed_curve(points: Sequence[tuple[float, float]], noise: float, start: int | None, seed: int) -> float:
    """Throughput at the end of a climb over the best there is."""
    server = CurveServer(points, noise=noise, seed=seed)
    largest = int(server.knobs.knobs["pool_size"].high)
    first = PoolTuple(start or largest, 3, 500)
    server.apply(first)
    climber = spectral_climber(CLIMB, server.knobs, first.pool_size)
    controller = ClimbController(climber, first, Objective())
    trace = tune(server, controller, Objective(), period_s=PERIOD_S, horizon_s=SAMPLES * PERIOD_S)
    sizes, values = zip(*points, strict=True)
    at_end = np.interp(np.log(trace.final_tuple.pool_size), np.log(sizes), values)
    return float(at_end / max(values))


def on_curves(folder: Path, noise: float, seeds: int) -> dict[str, Any]:
    """What the climbs of every curve from every start reach under one noise."""
    curves = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    reached = np.array(
        [
            climbed_curve([(float(size), float(value)) for size, value in curve], noise, start, seed)
            for curve in curves
            for start in STARTS
            for seed in range(seeds)
        ]
    )
    return {
        "noise": noise,
        "climbs": len(reached),
        "within_5pct": float(np.mean(reached >= 0.95)),
        "under_80pct": float(np.mean(reached < 0.8)),
        "worst": float(reached.min()),
    }


def drawn(rng: np.random.Generator) -> Workload:
    """A workload of one or two classes, each of two to five steps of any kind; nobody has a target yet."""
    classes = tuple(_class(f"class_{number}", rng) for number in range(rng.integers(1, 3)))
    connections = int(rng.choice([64, 128, 256, 512]))
    return Workload("drawn", "benchmark", classes, connections=connections, cpus=2, seed=int(rng.integers(2**31)))


def _class(name: str, rng: np.random.Generator) -> RequestClass:
    steps: list[Step] = [Step("cpu", us=float(rng.uniform(10, 60)), variation=1.0)]
    for _ in range(rng.integers(1, 4)):
        steps += _step(rng)
    return RequestClass(name, tuple(steps), weight=float(rng.uniform(0.5, 2.0)))


def _step(rng: np.random.Generator) -> list[Step]:
    wait_us = float(np.exp(rng.uniform(np.log(500), np.log(8000))))
    kind = rng.choice(["silent", "reported", "latched", "cpu"], p=[0.45, 0.2, 0.15, 0.2])
    if kind == "latched":
        latch = int(rng.integers(0, 8))
        held = Step("cpu", us=float(rng.uniform(5, 20)))
        return [Step("acquire", latch=latch, spread=8, spin_us=20), held, Step("release", latch=latch, spread=8)]
    if kind == "cpu":
        return [Step("cpu", us=float(rng.uniform(10, 60)), variation=1.0)]
    return [Step("wait", us=wait_us, variation=0.5, reported=kind == "reported")]


def goodputs(open_server: Open, workload: Workload) -> dict[int, float]:
    """Goodput by size, each on a server of its own."""
    objective = Objective.of_classes(workload.classes)
    found = {}
    for size in SIZES:
        with open_server(workload) as server:
            found[size] = objective.goodput_per_s(measure(server, _tuple(size), JUDGED).window)
    return found


def _tuple(size: int) -> PoolTuple:
    return PoolTuple(size, 3, 500, idle_timeout_s=1.0)


def hopeless(workloads: int) -> Iterator[Workload]:
    """Workloads whose default lets hardly a request be in time, by the simulator."""
    rng = np.random.default_rng(0)
    found = 0
    while found < workloads:
        workload = drawn(rng)
        throughput = max(goodputs(simulated, workload).values())
        # Twice the mean time in the system at the best size, by Little's law.
        target_ms = 2000.0 * workload.connections / throughput
        wanted = replace(workload, classes=tuple(replace(one, target_ms=target_ms) for one in workload.classes))
        by_size = goodputs(simulated, wanted)
        if by_size[wanted.cpus] <= HOPELESS * max(by_size.values()):
            found += 1
            yield wanted


def climb_from_default(open_server: Open, workload: Workload) -> tuple[float, int]:
    """Goodput of the last seconds of a climb, and the size it ends at."""
    objective = Objective.of_classes(workload.classes)
    with open_server(workload) as server:
        default = _tuple(workload.cpus)
        controller = ClimbController(spectral_climber(CLIMB, server.knobs), default, objective)
        trace = tune(server, controller, objective, period_s=PERIOD_S, horizon_s=CLIMB_S)
    last = [step.goodput_per_s for step in trace.steps if step.end_s > CLIMB_S - LAST_S]
    return fmean(last), trace.final_tuple.pool_size


def climbed(open_server: Open, workload: Workload) -> dict[str, Any]:
    """What a climb reaches, beside every size held."""
    found = goodputs(open_server, workload)
    goodput_per_s, size = climb_from_default(open_server, workload)
    best = max(found, key=lambda one: found[one])
    return {
        "steps": [[step.op for step in one.steps] for one in workload.classes],
        "connections": workload.connections,
        "default_goodput_per_s": found[workload.cpus],
        "best_size": best,
        "best_goodput_per_s": found[best],
        "size": size,
        "goodput_per_s": goodput_per_s,
    }


def simulated(workload: Workload) -> PoolServer:
    """A simulated pool under its default tuple."""
    return SimulatedServer(workload, initial=_tuple(workload.cpus))


def native(workload: Workload) -> PoolServer:
    """The embedded pool under its default tuple."""
    return NativeServer(workload, initial=_tuple(workload.cpus))


def main() -> None:
    """Climbs and prints what was reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--curves", type=Path, default=CURVES)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workloads", type=int, default=WORKLOADS)
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/reports/climb_traps.json"))
    arguments = parser.parse_args()
    result: dict[str, Any] = json.loads(arguments.json.read_text()) if arguments.json.is_file() else {}
    where = "live" if arguments.live else "simulated"
    rows = result.setdefault(where, [])
    if not arguments.live:
        result["curves"] = curves = [on_curves(arguments.curves, noise, arguments.seeds) for noise in NOISES]
        for row in curves:
            shares = f"within 5 %: {row['within_5pct']:.1%}, under 80 %: {row['under_80pct']:.1%}"
            print(f"curves, noise {row['noise']:.0%}: {row['climbs']} climbs, {shares}, worst {row['worst']:.2f}")
        write_json(arguments.json, result)
    for number, workload in enumerate(hopeless(arguments.workloads), start=1):
        if number > len(rows):
            rows.append(climbed(native if arguments.live else simulated, workload))
            write_json(arguments.json, result)
        _tell(number, rows[number - 1])
    ratios = [row["goodput_per_s"] / row["best_goodput_per_s"] for row in rows]
    if ratios:
        print(f"{len(rows)} workloads: {sum(ratio == 0.0 for ratio in ratios)} end at none, mean {fmean(ratios):.2f}")


def _tell(number: int, row: dict[str, Any]) -> None:
    share = row["goodput_per_s"] / row["best_goodput_per_s"]
    print(
        f"{number:2d}: default {row['default_goodput_per_s']:.0f}/s, best {row['best_size']} with "
        f"{row['best_goodput_per_s']:.0f}/s; ends at {row['size']} with {share:.0%}",
        flush=True,
    )


if __name__ == "__main__":
    main()
