"""Sums up a comparison: means by controller, verdicts by cell, the share of cells that ours wins."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from climbing.paired_test import Verdict, compare, tally
from climbing.reference_controllers import ANCESTORS, SPECTRAL
from harness.experiment import Found, Rows, by_arm, by_scenario

MARGIN = 0.02
"""What ours may lose to an ancestor and still count as not inferior."""

DIGITS = 5
"""Digits of a share that a report keeps: far below what repeats differ by."""

Cell = Mapping[str, Sequence[float]]
"""Shares of the objective lost, by controller and seed."""


def summarise(rows: Rows) -> dict[str, Any]:
    """The figures of the whole."""
    cells = [
        {name: [one["objective_lost"] for one in found] for name, found in cell.items()}
        for cell in by_scenario(rows).values()
    ]
    controllers = list(cells[0])
    verdicts = {name: [against(cell, name) for cell in cells] for name in controllers if name != SPECTRAL}
    ancestors = [name for name in ANCESTORS if name in controllers]
    inferior = sum(any(is_perhaps_inferior(verdicts[name][place]) for name in ancestors) for place in range(len(cells)))
    return {
        "cells": len(cells),
        "spectral_best_share": round(fmean(best(cell, controllers) == SPECTRAL for cell in cells), DIGITS),
        "verdicts": {name: tally(found) for name, found in verdicts.items()},
        "not_non_inferior": inferior,
        "better_than_best_ancestor_share": round(fmean(beats(cell, ancestors) for cell in cells), DIGITS),
        "means": {name: means_of(found) for name, found in by_arm(rows).items()},
    }


def against(cell: Cell, baseline: str) -> Verdict:
    """Ours against a baseline in a cell."""
    return compare(cell[SPECTRAL], cell[baseline])


def is_perhaps_inferior(verdict: Verdict) -> bool:
    """Whether ours may be worse by the margin or more; of one repeat its loss counts."""
    return verdict.most > 0.0 and verdict.most >= MARGIN


def best(cell: Cell, among: Sequence[str]) -> str:
    """The controller that loses least in a cell."""
    return min(among, key=lambda name: fmean(cell[name]))


def beats(cell: Cell, ancestors: Sequence[str]) -> bool:
    """Whether ours loses less than the best of the reference controllers."""
    return fmean(cell[SPECTRAL]) < fmean(cell[best(cell, ancestors)])


def means_of(scores: Sequence[Found]) -> dict[str, float]:
    """Means over runs."""
    return {
        "objective_lost": round(fmean(one["objective_lost"] for one in scores), DIGITS),
        "end_lost": round(fmean(one["end_lost"] for one in scores), DIGITS),
        "stays": round(fmean(one["samples_to_stay"] is not None for one in scores), DIGITS),
    }
