"""Runs and comparisons made by hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from poolpilot.pipelines.bench.climbing.score import Score
from poolpilot.pipelines.bench.climbing.suite import Run, Task
from poolpilot.pipelines.bench.climbing.summary import Comparison

Lost = Mapping[str, Mapping[str, Sequence[float]]]
"""Shares of the objective lost, by cell, controller and seed."""

MakeComparison = Callable[[Lost], Comparison]


@dataclass(frozen=True)
class NoSuite:
    """Describes cells and runs nothing."""

    def tasks(self) -> list[Task]:
        return []

    def run(self, task: Task) -> Score:
        raise NotImplementedError

    def describe(self, cell: str) -> dict[str, Any]:
        return {"shape": cell, "scale": 8, "noise": 0.05, "correlation": 0.0, "start": "one", "shift": None}


@pytest.fixture
def make_comparison() -> MakeComparison:
    """Builds a comparison, with a margin of 2 %, of what every controller lost."""

    def make(lost: Lost) -> Comparison:
        runs = [
            Run(Task(controller, cell, seed), Score(share, share / 2, None, share, 1.5, 4, 1))
            for cell, found in lost.items()
            for controller, shares in found.items()
            for seed, share in enumerate(shares)
        ]
        return Comparison.of(NoSuite(), runs, margin=0.02)

    return make
