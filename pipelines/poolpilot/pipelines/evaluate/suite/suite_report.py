"""What the suite says: cell by cell what was written down and what came out, and how often each method was right."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

from poolpilot.env.measurement.sweep import Core
from poolpilot.lab.suite.suite_cells import SuiteCell
from poolpilot.pipelines.evaluate.live.judging.live_result import AGAIN, DEFAULT, REFERENCE
from poolpilot.pipelines.evaluate.suite.suite_judgement import Judgement, LossToDefault, Truth, came_true, judge
from poolpilot.pipelines.evaluate.suite.suite_run import ADVICE, CellResult

NOT_JUDGED = (DEFAULT, AGAIN, REFERENCE)


@dataclass(frozen=True)
class SuiteReport:
    """All workloads of the suite that were measured.

    Attributes:
        cells: Each with what came out.
        objective: What counted.
    """

    cells: Sequence[tuple[SuiteCell, CellResult]]
    objective: str

    @property
    def methods(self) -> list[str]:
        """Every method that is judged, the advice first."""
        return [name for name in self.cells[0][1].chosen if name not in NOT_JUDGED] if self.cells else []

    def judgement(self, cell: SuiteCell, result: CellResult, method: str) -> Judgement:
        """What a method's choice on one workload is."""
        return judge(
            cell.expectation,
            result.chosen[method],
            result.default,
            abstained=method in result.abstained,
            difference=difference_of(result, method),
            floors_kept=not floors_broken(cell, result, method),
        )

    def truth(self, cell: SuiteCell, result: CellResult) -> Truth:
        """Whether the sweep bears out what was written down."""
        reference = result.chosen[REFERENCE]
        return came_true(cell.expectation, reference, result.default, difference_of(result, REFERENCE))

    def statistics(self, method: str, *, sealed: bool = False) -> dict[str, Any]:
        """How often a method was right, by what was written down; who never moves is right in two of the three kinds.

        Args:
            method: The method.
            sealed: Counts the sealed families alone.
        """
        cells = [(cell, result) for cell, result in self.cells if cell.sealed or not sealed]
        judged = [(cell, result, self.judgement(cell, result, method)) for cell, result in cells]
        found: dict[str, Any] = {}
        for kind, verdicts in KINDS.items():
            outcomes = [one.outcome for cell, _, one in judged if cell.expectation.verdict in verdicts]
            found |= {kind: len(outcomes), f"{kind}_right": outcomes.count("right")}
        flat = [(cell, result, one) for cell, result, one in judged if cell.expectation.verdict == "flat"]
        return found | {
            "flat_wrong": sum(one.outcome == "wrong" for *_, one in flat),
            "flat_not_shown": sum(one.outcome == "not shown" for *_, one in flat),
            "flat_true": sum(self.truth(cell, result) == "yes" for cell, result, _ in flat),
            "largest_loss": max((one.difference.loss for *_, one in judged), default=None),
            "gain": self._gain(method, cells),
            "floors_broken": sum(bool(floors_broken(cell, result, method)) for cell, result, _ in judged),
        }

    def _gain(self, method: str, cells: Sequence[tuple[SuiteCell, CellResult]]) -> float | None:
        """Geometric mean of the choices' J over the default's; who breaks a floor is taken to have stayed."""
        gains = [
            0.0 if floors_broken(cell, result, method) else math.log1p(-difference_of(result, method).loss)
            for cell, result in cells
        ]
        return math.exp(sum(gains) / len(gains)) if gains else None

    def as_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        return {
            "objective": self.objective,
            "workloads": len(self.cells),
            "censored": [result.workload for _, result in self.cells if result.live.censored],
            "methods": {method: self.statistics(method) for method in self.methods},
            "methods_sealed": {method: self.statistics(method, sealed=True) for method in self.methods},
            "cells": [self._row(cell, result) for cell, result in self.cells],
        }

    def tables(self) -> list[Table]:
        """The methods and the cells as people read them."""
        return [self._methods_table(), self._cells_table()]

    def _row(self, cell: SuiteCell, result: CellResult) -> dict[str, Any]:
        return {
            "workload": result.workload,
            "family": result.family,
            "sealed": cell.sealed,
            "expected": dict(cell.expectation.as_dict()),
            "came_true": self.truth(cell, result),
            "reference": self._choice(cell, result, REFERENCE),
            "methods": {method: self._choice(cell, result, method) for method in self.methods},
            "live": result.live.as_dict(),
        }

    def _choice(self, cell: SuiteCell, result: CellResult, method: str) -> dict[str, Any]:
        return {
            "chosen": list(result.chosen[method]),
            "abstained": method in result.abstained,
            "floors_broken": floors_broken(cell, result, method),
            "class_share": dict(result.class_share[method]),
            **self.judgement(cell, result, method).as_dict(),
        }

    def _methods_table(self) -> Table:
        table = Table(
            title=f"{len(self.cells)} workloads, objective {self.objective}", title_justify="left", box=SIMPLE
        )
        for heading in ("method", "to change: right", "to stay", "flat: right", "not shown", "wrong", "floors broken"):
            table.add_column(heading, justify="left" if heading == "method" else "right")
        for method in self.methods:
            found = self.statistics(method)
            table.add_row(
                method,
                *(f"{found[f'{kind}_right']} of {found[kind]}" for kind in KINDS),
                *(str(found[key]) for key in ("flat_not_shown", "flat_wrong", "floors_broken")),
            )
        return table

    def _cells_table(self) -> Table:
        title = "Cell by cell: loss to the default, its 95 % bound, and the loss that 80 % power would have seen"
        table = Table(title=title, title_justify="left", box=SIMPLE, padding=0)
        for heading in (
            "workload",
            "load",
            "expected",
            "true",
            "reference",
            ADVICE,
            "outcome",
            "loss",
            "bound",
            "seen",
        ):
            words = heading in ("workload", "load", "expected")
            table.add_column(heading, justify="left" if words else "right", no_wrap=True)
        for cell, result in self.cells:
            one = self.judgement(cell, result, ADVICE)
            shown = "abstained" if ADVICE in result.abstained else core_in_words(result.chosen[ADVICE])
            lost = one.difference
            table.add_row(
                result.workload,
                result.live.load or "-",
                cell.expectation.in_short,
                self.truth(cell, result),
                core_in_words(result.chosen[REFERENCE]),
                shown,
                one.outcome,
                *(f"{share:.0%}" for share in (lost.loss, lost.high, lost.detectable)),
            )
        return table


KINDS = {"change": ("change",), "stay": ("abstain", "hold"), "flat": ("flat",)}
"""What is counted apart, by the verdicts that were written down."""


def difference_of(result: CellResult, method: str) -> LossToDefault:
    """What a method's choice loses to the default."""
    return LossToDefault.of_rounds(result.values[method], result.values[DEFAULT])


def floors_broken(cell: SuiteCell, result: CellResult, method: str) -> list[str]:
    """Long classes that a choice leaves less of what they had under the default than they must keep."""
    shares: Mapping[str, float] = result.class_share[method]
    floors = cell.workload.objective.min_share
    return [name for name, least in floors.items() if shares.get(name, 1.0) < least]


def core_in_words(core: Core) -> str:
    """A tuple as tables have it."""
    return f"({', '.join(map(str, core))})"
