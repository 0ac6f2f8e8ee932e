"""Measures the live workloads that the simulator is judged by: one of each family, twelve tuples, long windows.

How to run: `python benchmarks/twin_records.py --store benchmarks/records/twin` (20 minutes, nothing else running; run
it again to go on after Ctrl-C), then `poolpilot calibrate --judged-store benchmarks/records/twin`. Results to expect:
the table in `docs/simulator.md`.
"""

import argparse
from pathlib import Path

from poolpilot.env.families import FAMILIES, PlannedWorkload, draw_workload
from poolpilot.env.ladder import Ladder
from poolpilot.env.measurement import MeasurementSettings
from poolpilot.pipelines.collect import Staging, collect
from poolpilot.pipelines.collect_settings import CollectSettings

SEED = 78
"""Nothing else draws workloads with this seed: nobody has fitted to them."""

LADDER = Ladder(sizes=(1, 2, 4, 8, 16, 64), oversubscribes=(3,), timer_intervals_ms=(10, 500))
TWICE = MeasurementSettings(window_s=2.5, keep_shares=(1.0, 1.0), finalists=1, final_repeats=0, oracle_repeats=1)


def planned() -> list[PlannedWorkload]:
    """One workload of every family that is not sealed, on one and on two processors in turn."""
    families = [family for family in FAMILIES.values() if family.split != "test"]
    return [
        PlannedWorkload(family.split, draw_workload(family, SEED, number % 2)) for number, family in enumerate(families)
    ]


def main() -> None:
    """Measures what the store does not hold yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, default=Path("benchmarks/records/twin"))
    settings = {"store": parser.parse_args().store, "racing": TWICE, "climbs": 0, "random_share": 0.0}
    collect(CollectSettings.load(None, settings), planned(), Staging(ladder=LADDER))


if __name__ == "__main__":
    main()
