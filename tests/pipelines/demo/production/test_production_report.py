"""The table holds every phase of every arm, and compares with the first arm."""

from io import StringIO

from rich.console import Console

from poolpilot.featurizer.histogram import Histogram
from poolpilot.pipelines.demo.production.phase_seen import PhaseSeen
from poolpilot.pipelines.demo.production.production_report import arms_as_dict, arms_table
from poolpilot.pipelines.demo.production.shifting_load import PHASES


def arm(per_s: int) -> list[PhaseSeen]:
    return [
        PhaseSeen(
            workload.name,
            (1.0, 1.0),
            tuple({one.name: Histogram.of_values([500.0] * per_s) for one in workload.classes} for _ in range(2)),
        )
        for workload in PHASES
    ]


def test_gain_is_over_the_arm_that_nobody_touched() -> None:
    console = Console(file=StringIO(), width=100)
    console.print(arms_table({"default": arm(10), "tuner": arm(25)}, PHASES))
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    assert (text.count("x1.00"), text.count("x2.50")) == (len(PHASES), len(PHASES))
    assert [workload.name for workload in PHASES if workload.name not in text] == []


def test_json_has_every_phase_of_every_arm() -> None:
    told = arms_as_dict({"default": arm(10), "tuner": arm(25)})
    assert {name: [phase["throughput_per_s"] for phase in phases] for name, phases in told.items()} == {
        "default": [10.0 * len(workload.classes) for workload in PHASES],
        "tuner": [25.0 * len(workload.classes) for workload in PHASES],
    }
