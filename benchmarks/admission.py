"""Limits on the transactions inside, fixed and adaptive, beside each other under a load that shifts, in the simulator.

How to run: `python benchmarks/admission.py [--json PATH]` (minutes; the same numbers every time). The load is of 512
clients on four processors, in four phases of a minute: few of them send; all of them queue up at one latch, whose
holder pays for every waiter; nine in ten only wait for their disk; all are at the latch again. Results to expect: with
no limit the latch phases collapse; no fixed limit is best in all phases, because readers want more inside than the
latch bears; the limiters that go by latency take the readers' longer requests for a queue; our climber, which goes by
throughput, gives as much as the best fixed limit that only hindsight knows. In
`benchmarks/throttling.py` the number of connections grows.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from poolpilot.env.climbing.admission import LimitSample, control
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.env.output import write_json
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.native_pool import Climber, SpectralClimber
from poolpilot.native_pool._core import (
    Gradient2Climber,
    Gradient2Settings,
    ProbingClimber,
    ProbingSettings,
    VegasClimber,
    VegasSettings,
)
from poolpilot.native_pool.simulation import CALIBRATED, LoadChange
from poolpilot.native_pool.workload import RequestClass, Step, Workload

CONNECTIONS = 512
FEW = 12
PHASE_S = 60.0
INTERVAL_S = 0.5
SETTLED = 0.5
"""Share of a phase at its end that says where a controller has come to."""

FIXED = (4, 8, 12, 16, 24, 32, 48, 64, 128, 256)
START, LEAST, MOST = 20, 1, CONNECTIONS

CONVOY = RequestClass(
    "convoy",
    (
        Step("begin"),
        Step("cpu", us=60.0, variation=0.5),
        Step("wait", us=800.0, variation=0.5, kind="disk_io", reported=True),
        Step("acquire", waiter_cost_us=2.0, reported=True),
        Step("cpu", us=100.0, variation=0.2),
        Step("release"),
        Step("commit"),
    ),
)
READING = RequestClass(
    "reading",
    (Step("cpu", us=60.0, variation=0.5), Step("wait", us=4000.0, variation=0.5, kind="disk_io", reported=True)),
)


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the load: who sends what."""

    name: str
    connections: int
    shares: tuple[float, float]


PHASES = (
    Phase("few clients", FEW, (1.0, 0.0)),
    Phase("convoy", CONNECTIONS, (1.0, 0.0)),
    Phase("readers", CONNECTIONS, (0.1, 0.9)),
    Phase("convoy again", CONNECTIONS, (1.0, 0.0)),
)

CONTROLLERS: Mapping[str, Callable[[], Climber]] = {
    "gradient2": lambda: Gradient2Climber(Gradient2Settings(interval_s=INTERVAL_S), START, LEAST, MOST),
    "vegas": lambda: VegasClimber(VegasSettings(interval_s=INTERVAL_S), START, LEAST, MOST),
    "probing": lambda: ProbingClimber(ProbingSettings(interval_s=INTERVAL_S), START, LEAST, MOST),
    "spectral": lambda: SpectralClimber(ClimbSettings(period_s=INTERVAL_S).native(), START, LEAST, MOST),
}


def server(limit: int) -> SimulatedServer:
    """A pool under the shifting load."""
    workload = Workload("shifting", "admission", (CONVOY, READING), connections=CONNECTIONS, cpus=4, seed=1)
    changes = [
        LoadChange(at_s=place * PHASE_S, connections=phase.connections, shares=phase.shares)
        for place, phase in enumerate(PHASES)
    ]
    return SimulatedServer(workload, CALIBRATED, changes=changes, admission_limit=limit)


def fixed(limit: int, intervals: int) -> list[LimitSample]:
    """What a limit that nobody changes gives, interval after interval; 0 is none."""
    pool = server(limit)
    samples = []
    before = pool.snapshot()
    for _ in range(intervals):
        pool.run_for(INTERVAL_S)
        after = pool.snapshot()
        samples.append(LimitSample.between(before, after))
        before = after
    return samples


def in_phases(samples: Sequence[LimitSample]) -> dict[str, dict[str, float]]:
    """Throughput and limit of each phase: of all of it, and of its end."""
    length = round(PHASE_S / INTERVAL_S)
    rows = {}
    for place, phase in enumerate(PHASES):
        all_of_it = samples[place * length : (place + 1) * length]
        end = all_of_it[round(length * SETTLED) :]
        rows[phase.name] = {
            "throughput_per_s": fmean(one.throughput_per_s for one in all_of_it),
            "end_throughput_per_s": fmean(one.throughput_per_s for one in end),
            "end_limit": fmean(one.limit for one in end),
        }
    return rows


def summary(runs: Mapping[str, Sequence[LimitSample]]) -> dict[str, dict[str, Any]]:
    """Each run by phase, and its share of the best fixed limit in hindsight: over all, and phase by phase."""
    phases = {name: in_phases(samples) for name, samples in runs.items()}
    means = {name: fmean(one.throughput_per_s for one in samples) for name, samples in runs.items()}
    constant = [name for name in runs if name not in CONTROLLERS]
    best = max(means[name] for name in constant)
    return {
        name: {
            "throughput_per_s": means[name],
            "of_best_fixed": means[name] / best,
            "of_best_in_phase": {
                phase.name: phases[name][phase.name]["throughput_per_s"]
                / max(phases[other][phase.name]["throughput_per_s"] for other in constant)
                for phase in PHASES
            },
            "phases": phases[name],
        }
        for name in runs
    }


def main() -> None:
    """Runs everything and prints the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="write the result here")
    path = parser.parse_args().json
    intervals = round(len(PHASES) * PHASE_S / INTERVAL_S)
    runs = {"off": fixed(0, intervals)}
    runs |= {f"fixed {limit}": fixed(limit, intervals) for limit in FIXED}
    runs |= {name: control(server(START), make(), intervals, INTERVAL_S) for name, make in CONTROLLERS.items()}
    shares = summary(runs)
    phases = [asdict(phase) for phase in PHASES]
    write_json(path, {"phase_s": PHASE_S, "interval_s": INTERVAL_S, "phases": phases, "runs": shares})
    for name, row in shares.items():
        by_phase = "  ".join(f"{share:6.1%}" for share in row["of_best_in_phase"].values())
        print(f"{name:12} {row['throughput_per_s']:8.0f}/s  {row['of_best_fixed']:6.1%}   {by_phase}")


if __name__ == "__main__":
    main()
