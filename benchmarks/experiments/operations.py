"""A production host: writers that are killed, and a service that is asked as fast as it answers."""

from collections import Counter
from typing import Any

from harness.experiment import Experiment, Found, Rows, Task, by_arm
from operations.asked_service import answered
from operations.killed_service import outcomes_lost
from operations.killed_store import rows_lost

KILLED = {"service": outcomes_lost, "store": rows_lost}
KILLS = 10
"""Of one run."""

COUNTED = ("kills", "acknowledged", "lost", "there_twice")
ASKED = {"rate": 20_000, "soak": 1_000_000}


def killed(task: Task) -> Found:
    """Kills a writer some times."""
    return KILLED[task.arm](2 if task.quick else KILLS, task.seed)


def sums(rows: Rows) -> dict[str, Any]:
    """The counts of each writer."""
    found: dict[str, Counter[str]] = {}
    for arm, runs in by_arm(rows).items():
        found[arm] = Counter()
        for run in runs:
            found[arm].update({name: run[name] for name in COUNTED})
    return {arm: {name: counts[name] for name in COUNTED} for arm, counts in found.items()}


def served(task: Task) -> Found:
    """Asks a service so many times."""
    return answered(1_000 if task.quick else ASKED[task.scenario])


EXPERIMENTS = {
    "kills": Experiment(
        "Is anything lost that was acknowledged when its writer is killed? Some minutes.",
        scenarios=("SIGKILL",),
        measure=killed,
        summarise=sums,
        arms=tuple(KILLED),
        seeds=range(1, 11),
    ),
    "service": Experiment(
        "How many predictions a second has one processor, and what does a million leave behind? A quarter of an hour.",
        scenarios=tuple(ASKED),
        measure=served,
        summarise=lambda rows: {"rows": [row.found for row in rows]},
    ),
}
