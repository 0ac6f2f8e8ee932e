"""Sums up a comparison: means by controller, verdicts by cell, the share of cells that ours wins."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from poolpilot.pipelines.bench.climbing.paired_test import Verdict, compare, tally
from poolpilot.pipelines.bench.climbing.reference_controllers import ANCESTORS, SPECTRAL
from poolpilot.pipelines.bench.climbing.score import Score
from poolpilot.pipelines.bench.climbing.suite import Run, Suite

Scores = Mapping[str, Mapping[str, Sequence[Score]]]
"""Scores by cell, controller and seed."""


@dataclass(frozen=True)
class Comparison:
    """All runs of an suite.

    Attributes:
        suite: Where they ran.
        scores: Their scores.
        margin: What ours may lose to an ancestor and still count as not inferior.
    """

    suite: Suite
    scores: Scores
    margin: float

    @classmethod
    def of(cls, suite: Suite, runs: Sequence[Run], margin: float) -> "Comparison":
        """Sorts runs, which come in the order of their tasks."""
        scores: dict[str, dict[str, list[Score]]] = defaultdict(lambda: defaultdict(list))
        for run in runs:
            scores[run.task.cell][run.task.controller].append(run.score)
        return cls(suite, scores, margin)

    @property
    def controllers(self) -> list[str]:
        """Names of the controllers."""
        return list(next(iter(self.scores.values())))

    def lost(self, cell: str, controller: str) -> list[float]:
        """Share of the objective lost in a cell, by seed."""
        return [one.objective_lost for one in self.scores[cell][controller]]

    def verdict(self, cell: str, baseline: str) -> Verdict:
        """Ours against a baseline in a cell."""
        return compare(self.lost(cell, SPECTRAL), self.lost(cell, baseline))

    def best(self, cell: str, among: Sequence[str]) -> str:
        """The controller that loses least in a cell."""
        return min(among, key=lambda name: fmean(self.lost(cell, name)))

    def ancestors(self) -> list[str]:
        """The ancestors that took part."""
        return [name for name in ANCESTORS if name in self.controllers]

    def summary(self) -> dict[str, Any]:
        """The figures of the whole."""
        cells = list(self.scores)
        baselines = [name for name in self.controllers if name != SPECTRAL]
        verdicts = {baseline: [self.verdict(cell, baseline) for cell in cells] for baseline in baselines}
        inferior = self.perhaps_inferior(self.losing_cells())
        best = [self.best(cell, self.controllers) == SPECTRAL for cell in cells]
        return {
            "cells": len(cells),
            "spectral_best_share": fmean(best),
            "verdicts": {baseline: tally(found) for baseline, found in verdicts.items()},
            "not_non_inferior": len({row["cell"] for row in inferior}),
            "better_than_best_ancestor_share": self._better_than_best_ancestor(cells),
            "means": {name: self._means(name) for name in self.controllers},
        }

    def losing_cells(self) -> list[dict[str, Any]]:
        """Every cell and ancestor where ours is not shown to be better or equal, the worst first.

        Where a cell has one repeat, `low` and `high` are None.
        """
        rows = []
        for cell in self.scores:
            for baseline in self.ancestors():
                verdict = self.verdict(cell, baseline)
                if verdict.most > 0.0 and (verdict.outcome == "lost" or not verdict.non_inferior(self.margin)):
                    row = {"cell": cell, "baseline": baseline, "difference": verdict.difference}
                    rows.append({**row, "low": verdict.low, "high": verdict.high})
        return sorted(rows, key=lambda row: float(row["difference"]), reverse=True)

    def perhaps_inferior(self, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Those of `losing_cells` in which ours may be worse by the margin or more; of one repeat its loss counts."""
        return [row for row in rows if Verdict(row["difference"], row["low"], row["high"]).most >= self.margin]

    def cells(self) -> list[dict[str, Any]]:
        """Every cell with the means of every controller."""
        return [
            {**self.suite.describe(cell), "cell": cell, "controllers": {name: self._row(cell, name) for name in found}}
            for cell, found in self.scores.items()
        ]

    def by_curve(self) -> list[dict[str, Any]]:
        """What ours and the ancestors lose in the mean, by curve and noise; nothing for pools, which have no curve."""
        lost: dict[tuple[Any, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for cell in self.cells() if self.ancestors() else ():
            if "shape" in cell:
                key = (cell["shape"], cell["shift"] is not None, cell["noise"], cell["correlation"])
                for name in (SPECTRAL, *self.ancestors()):
                    lost[key][name].append(cell["controllers"][name]["objective_lost"])
        return [
            {
                **dict(zip(("shape", "shifted", "noise", "correlation"), key, strict=True)),
                "objective_lost": {name: fmean(values) for name, values in by_name.items()},
            }
            for key, by_name in lost.items()
        ]

    def as_dict(self) -> dict[str, Any]:
        """The report, fit for JSON: what pages show. The runs themselves are in the file of runs."""
        rounded: dict[str, Any] = _rounded({"summary": self.summary(), "losing": self.losing_cells()})
        return {**rounded, "by_curve": self.by_curve()}

    def _better_than_best_ancestor(self, cells: Sequence[str]) -> float | None:
        ancestors = self.ancestors()
        if not ancestors:
            return None
        return fmean(
            fmean(self.lost(cell, SPECTRAL)) < fmean(self.lost(cell, self.best(cell, ancestors))) for cell in cells
        )

    def _row(self, cell: str, name: str) -> dict[str, Any]:
        found = self.scores[cell][name]
        row = means_of(found)
        if name != SPECTRAL:
            verdict = self.verdict(cell, name)
            row |= {"spectral_minus_this": [verdict.difference, verdict.low, verdict.high], "spectral": verdict.outcome}
        return row

    def _means(self, name: str) -> dict[str, float | None]:
        return means_of([one for found in self.scores.values() for one in found[name]])


def means_of(scores: Sequence[Score]) -> dict[str, Any]:
    """Means over runs; of the samples to stay the median, in which a run that never stays is the longest."""
    stays = sorted(one.samples_to_stay if one.samples_to_stay is not None else float("inf") for one in scores)
    middle = median(stays)
    return {
        "objective_lost": fmean(one.objective_lost for one in scores),
        "throughput_lost": fmean(one.throughput_lost for one in scores),
        "end_lost": fmean(one.end_lost for one in scores),
        "samples_to_stay": None if middle == float("inf") else middle,
        "stays": fmean(one.samples_to_stay is not None for one in scores),
        "size_over_smallest": fmean(one.size_over_smallest for one in scores),
        "changes": fmean(one.changes for one in scores),
        "wrong_moves": fmean(one.wrong_moves for one in scores),
    }


DIGITS = 5
"""Digits of a share that a report keeps: far below what repeats differ by."""


def _rounded(values: Any) -> Any:
    if isinstance(values, float):
        return round(values, DIGITS)
    if isinstance(values, dict):
        return {name: _rounded(value) for name, value in values.items()}
    return [_rounded(value) for value in values] if isinstance(values, list) else values
