"""Unsafe windows under the tuner, and under its advisor without a guard, on families that no curve was made of.

*Guarded* is the tuner as it ships; *unguarded* sets what is named at once, each minute. A window of another
configuration than the first is unsafe where it completes less than 95 % of what the untouched server does, or its
latency is above 1.2 times that, and that beyond three standard deviations of its windows. Bounds are over families, by
resampling them. Earlier draws of each family were looked at when the rules were made. On the embedded pool the
untouched windows are taken before, between and after the two, each with a pool and a load of its own.
"""

from collections.abc import Sequence
from typing import Any

from harness.code_digest import made_with
from harness.experiment import Experiment, Found, Rows, Task
from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.native import NativeServer
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.workloads.families import FAMILIES, draw_workload
from poolpilot.models.latent.constants import constant_on
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.native_pool.workload import Workload
from unsafe_windows.guarded_or_not import ARMS, PREDICTORS, shipped, untouched
from unsafe_windows.unsafe_counts import Seen, counts_of, summary

HELD_OUT = tuple(name for name, family in FAMILIES.items() if family.split == "validation")
STARTS = ("default", "constant")
HORIZON_S, LIVE_S, QUICK_S = 600.0, 300.0, 30.0
WARM_UP_S = 3.0


def simulated(task: Task) -> Found:
    """Both arms beside the untouched server, on one workload and from one start."""
    family, start = task.scenario.split(", from ")
    workload, seconds = draw_workload(FAMILIES[family], task.seed), QUICK_S if task.quick else HORIZON_S
    knobs = KnobSpace.stock(workload.cpus)
    first = knobs.default_tuple() if start == "default" else constant_on(load_curves(), knobs, Objective())
    with SimulatedServer(workload, initial=first) as server:
        usual = untouched(server, seconds)
    counts: dict[str, Any] = {}
    for name, arm in ARMS.items():
        with SimulatedServer(workload, initial=first) as server:
            counts[name] = counts_of(arm(server, PREDICTORS[task.arm](task.seed), seconds), usual)
    return {"family": family, **counts}


def live(task: Task) -> Found:
    """Both arms in real time; which of them comes first changes with every second workload."""
    place = HELD_OUT.index(task.scenario)
    workload = workload_of(task.scenario, task.seed)
    order = list(ARMS)[:: 1 if (task.seed + place // 2) % 2 else -1]
    return {"family": task.scenario, **in_order(workload, task.seed, QUICK_S if task.quick else LIVE_S, order)}


def workload_of(family: str, draw: int) -> Workload:
    """A workload of a family; a draw is on one processor or two, and on the other number for the next family."""
    return draw_workload(FAMILIES[family], draw, (draw + HELD_OUT.index(family)) % 2)


def in_order(workload: Workload, seed: int, seconds: float, order: Sequence[str]) -> dict[str, Any]:
    """The counts of both arms, each under a pool of its own."""
    usual, found = left_alone(workload, seconds / 10.0), dict[str, list[Seen]]()
    for name in order:
        with NativeServer(workload) as server:
            server.run_for(WARM_UP_S)
            found[name] = ARMS[name](server, shipped(seed), seconds)
        usual += left_alone(workload, seconds / 10.0)
    return {name: counts_of(found[name], usual) for name in ARMS}


def left_alone(workload: Workload, seconds: float) -> list[Seen]:
    """Windows of a pool of its own that nobody touches."""
    with NativeServer(workload) as server:
        server.run_for(WARM_UP_S)
        return untouched(server, seconds)


def summarise(rows: Rows) -> dict[str, Any]:
    """A row for each predictor: they are never counted together."""
    predictors = dict.fromkeys(row.task.arm for row in rows)
    found = [{"predictor": name, **summary([row.found for row in rows if row.task.arm == name])} for name in predictors]
    return {"made_with": made_with(), "rows": found}


EXPERIMENTS = {
    "unsafe_windows": Experiment(
        "How many unsafe windows does the guard keep away on simulated pools? Minutes.",
        scenarios=tuple(f"{family}, from {start}" for family in HELD_OUT for start in STARTS),
        measure=simulated,
        summarise=summarise,
        arms=tuple(PREDICTORS),
        seeds=(9, 10),
        together=True,
        under=made_with,
    ),
    "unsafe_live": Experiment(
        "The same on the embedded pool, in real time: an hour and a half.",
        scenarios=HELD_OUT,
        measure=live,
        summarise=summarise,
        arms=("shipped",),
        seeds=(31,),
        under=made_with,
    ),
}
