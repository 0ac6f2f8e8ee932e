"""What is said of one workload of the suite: what was written down, what came out, and which choices were right."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from poolpilot.pipelines.evaluate.live.judging.live_result import AGAIN, DEFAULT, REFERENCE
from suite.judgement import LossToDefault, came_true, judge
from suite.suite_cells import SuiteCell
from suite.suite_run import CellResult

NOT_JUDGED = (DEFAULT, AGAIN, REFERENCE)


def judged_cell(cell: SuiteCell, result: CellResult) -> dict[str, Any]:
    """A row of the report."""
    reference = result.chosen[REFERENCE]
    methods = [name for name in result.chosen if name not in NOT_JUDGED]
    return {
        "workload": result.workload,
        "family": result.family,
        "expected": {"verdict": cell.expectation.verdict},
        "came_true": came_true(cell.expectation, reference, result.default, difference_of(result, REFERENCE)),
        "live": {name: getattr(result.live, name) for name in ("censored", "noise", "noise_error")},
        "reference": choice(cell, result, REFERENCE),
        "methods": {name: choice(cell, result, name) for name in methods},
    }


def choice(cell: SuiteCell, result: CellResult, method: str) -> dict[str, Any]:
    """What a method chose, and what that is by what was written down."""
    broken = floors_broken(cell, result, method)
    judgement = judge(
        cell.expectation,
        result.chosen[method],
        result.default,
        abstained=method in result.abstained,
        difference=difference_of(result, method),
        floors_kept=not broken,
    )
    return {"chosen": list(result.chosen[method]), "floors_broken": broken, **asdict(judgement)}


def difference_of(result: CellResult, method: str) -> LossToDefault:
    """What a method's choice loses to the default."""
    return LossToDefault.of_rounds(result.values[method], result.values[DEFAULT])


def floors_broken(cell: SuiteCell, result: CellResult, method: str) -> list[str]:
    """Long classes that a choice leaves less of what they had under the default than they must keep."""
    shares: Mapping[str, float] = result.class_share[method]
    floors = cell.workload.objective.min_share
    return [name for name, least in floors.items() if shares.get(name, 1.0) < least]
