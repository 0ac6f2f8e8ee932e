"""Measures live workloads for the simulator: those it is fitted to, and those it is evaluated by.

How to run: `python benchmarks/twin_records.py fit` and `python benchmarks/twin_records.py judge` (ten and twenty
minutes, nothing else running; run it again to go on after Ctrl-C), then `poolpilot learn calibrate --store
benchmarks/records/fit --set judged_store=benchmarks/records/judge`. Evaluated are one workload of each family that is
not sealed, every tuple twice for 2.5 s; fitted to are two others of each, every tuple once for a second. Results to
expect: the table in `docs/results-simulator.md`.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.output import terminal
from poolpilot.env.workloads.families import FAMILIES, PlannedWorkload, draw_workload
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_settings import CollectSettings

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
    "fit": Plan(Path("benchmarks/records/fit"), 80, 2, ONCE),
    "judge": Plan(Path("benchmarks/records/judge"), 81, 1, TWICE),
}


def main() -> None:
    """Measures what the store does not hold yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", choices=PLANS)
    parser.add_argument("--time-budget-s", type=float)
    arguments = parser.parse_args()
    plan = PLANS[arguments.plan]
    settings = {
        "store": plan.store,
        "racing": plan.racing,
        "climbs": 0,
        "random_share": 0.0,
        "time_budget_s": arguments.time_budget_s,
    }
    report = collect(CollectSettings.load(None, settings), plan.planned(), Staging(grid=GRID))
    terminal().print(report.table())


if __name__ == "__main__":
    main()
