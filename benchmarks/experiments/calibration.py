"""How well the simulator does beside the live pool: it is fitted to some live workloads and evaluated by others.

Evaluated are one workload of each family that is not sealed, every tuple twice for 2.5 s; fitted to are two others of
each, every tuple once for a second. Records that are there are measured no more.
"""

from dataclasses import dataclass
from pathlib import Path

from experiments.evaluations import only, told
from harness.experiment import Experiment, Found, Task
from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.workloads.families import FAMILIES, PlannedWorkload, draw_workload
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_settings import CollectSettings

KEPT = Path("build/bench/calibration")
GRID = ActionGrid(sizes=(1, 2, 4, 8, 16, 64), oversubscribes=(3,), timer_intervals_ms=(10, 500))


@dataclass(frozen=True)
class Plan:
    """What is measured, and where it is kept."""

    store: Path
    seed: int
    """Nothing else draws workloads with it: who is fitted to the one has not seen the other."""

    each: int
    """Workloads of every family, on one and on two processors in turn."""

    racing: MeasurementSettings

    def planned(self) -> list[PlannedWorkload]:
        """The workloads, of all families in turn."""
        families = [family for family in FAMILIES.values() if family.split != "test"]
        return [
            PlannedWorkload(family.split, draw_workload(family, self.seed, number + turn))
            for turn in range(self.each)
            for number, family in enumerate(families)
        ]


ONCE = MeasurementSettings(
    window_s=1.0, keep_shares=(1.0,), finalists=1, final_repeats=0, oracle_repeats=1, most_steal=0.05
)
TWICE = ONCE.model_copy(update={"window_s": 2.5, "keep_shares": (1.0, 1.0)})
PLANS = {
    "fit": Plan(KEPT / "fit", 80, 2, ONCE),
    "judge": Plan(KEPT / "judge", 81, 1, TWICE),
}


FITTED = (
    *("overhead_us", "wake_us", "wake_cost_us", "piece_us"),
    *("timer_slack_us", "quantum_us", "switch_us"),
)


def measured(task: Task) -> Found:
    """Measures what the stores do not hold yet, and fits.

    Raises:
        ServerError: The simulator could not be fitted.
    """
    for plan in PLANS.values():
        settings = {"store": plan.store, "racing": plan.racing, "climbs": 0, "random_share": 0.0}
        collect(CollectSettings.load(None, settings), plan.planned(), Staging(grid=GRID))
    given = {
        "judged_store": PLANS["judge"].store,
        "workloads": 60,
        "evaluations": 3 if task.quick else 300,
        "step": 0.8,
        "fitted": ",".join(FITTED),
    }
    assigned = (word for name, value in given.items() for word in ("--set", f"{name}={value}"))
    return dict(told("learn", "calibrate", "--store", str(PLANS["fit"].store), *assigned))


EXPERIMENTS = {
    "calibration": Experiment(
        "Does the simulator agree with the live pool? Half an hour where records are to be measured, else minutes.",
        scenarios=("live",),
        measure=measured,
        summarise=only,
    )
}
