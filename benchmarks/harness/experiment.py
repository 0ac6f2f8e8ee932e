"""What an experiment is: arms x scenarios x seeds, how one run is measured, and what all runs come to."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Found = Mapping[str, Any]
"""What one run has found, fit for JSON."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run to do.

    Attributes:
        arm: What is compared.
        scenario: What it is compared on.
        seed: Number of the repeat; the same for every arm.
        quick: Whether it only shows that everything runs.
    """

    arm: str
    scenario: str
    seed: int
    quick: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A run that was done."""

    task: Task
    found: Found


Rows = Sequence[Row]


def nothing() -> Found:
    """What runs are measured under where nothing changes them but their task."""
    return {}


@dataclass(frozen=True)
class Experiment:
    """A comparison that is declared in a few lines.

    Attributes:
        question: What it answers, in one sentence, and how long it takes.
        scenarios: What arms are compared on; a function where looking takes long.
        measure: Does one run; a function of a module where runs go beside each other.
        summarise: What all runs come to: the report that pages are made of; None where runs leave what others take up.
        arms: What is compared; one where a run measures everything in turn.
        seeds: Numbers of the repeats; a function of the scenario where it says how many there are.
        together: Whether runs may go beside each other, as those in virtual time may.
        under: What runs are measured under: rows of something else are not taken up again.
        picture: Draws what the report says, where a page shows it; takes the report.
    """

    question: str
    scenarios: Sequence[str] | Callable[[], Sequence[str]]
    measure: Callable[[Task], Found]
    summarise: Callable[[Rows], Any] | None
    arms: Sequence[str] = ("all",)
    seeds: Sequence[int] | Callable[[str], Sequence[int]] = (1,)
    together: bool = False
    under: Callable[[], Found] = field(default=nothing)
    picture: Callable[[Any], None] | None = None

    def tasks(self, *, quick: bool = False) -> list[Task]:
        """Every run, arms in turn; with `quick` those of the first scenario and seed."""
        names = self.scenarios() if callable(self.scenarios) else self.scenarios
        return [
            Task(arm, name, seed, quick)
            for name in names[: 1 if quick else None]
            for seed in (self.seeds(name) if callable(self.seeds) else self.seeds)[: 1 if quick else None]
            for arm in self.arms
        ]


def by_arm(rows: Rows) -> dict[str, list[Found]]:
    """What was found by each arm, in the order of the runs."""
    found: dict[str, list[Found]] = {}
    for row in rows:
        found.setdefault(row.task.arm, []).append(row.found)
    return found


def by_scenario(rows: Rows) -> dict[str, dict[str, list[Found]]]:
    """What was found on each scenario by each arm."""
    listed: dict[str, list[Row]] = {}
    for row in rows:
        listed.setdefault(row.task.scenario, []).append(row)
    return {scenario: by_arm(each) for scenario, each in listed.items()}
