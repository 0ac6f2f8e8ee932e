"""What the live cells say together: regrets, paired differences, non-inferiority, seconds; a table and its figures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE
from rich.table import Table

from poolpilot.env.objective import regret
from poolpilot.pipelines.evaluate.mariadb_cell import DEFAULT, ORACLE, LiveCell, core_of
from poolpilot.pipelines.evaluate.statistics.outcomes import Outcome
from poolpilot.pipelines.evaluate.statistics.regret_statistics import (
    LIVE_METHOD_NAMES,
    PairedDifference,
    paired,
    summary,
)

PREDICTED, ORACLE_AGAIN = "predicted", "oracle_again"
MARGIN = 0.05
"""Share of the default's worth that a non-inferior choice may lose."""

SAME = 1e-9
"""Differences that vary less than this are a made-up case, of which a t-test cannot tell anything."""


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """Whether a method's choice is no worse than the default under one workload.

    Attributes:
        same: Whether it chose the default tuple.
        gain: Mean difference of J in the same rounds.
        p_value: Of losing at least the margin, one-sided; 0 for the same tuple.
        holm: Whether it is refuted at 5 % over all workloads (Holm, 1979).
    """

    same: bool
    gain: float
    p_value: float
    holm: bool


class LiveEvaluation:
    """The cells, and what follows from them.

    Args:
        cells: Measured workloads, at least one.
        resamples: Bootstrap samples of the intervals.
        seed: Their seed.
    """

    def __init__(self, cells: Sequence[LiveCell], resamples: int = 5000, seed: int = 0) -> None:
        self.cells = list(cells)
        self.resamples = resamples
        self.seed = seed
        self.outcomes = {name: [self._outcome(cell, name) for cell in self.cells] for name in self.cells[0].chosen}
        self.outcomes[ORACLE_AGAIN] = [_oracle_again(cell) for cell in self.cells]

    @property
    def methods(self) -> list[str]:
        """Methods, the least median regret first; the oracle is what they are compared with."""
        named = [name for name in self.outcomes if name != ORACLE]
        return sorted(named, key=lambda name: summary(self.outcomes[name])["regret_median"])

    def noise(self, cell: LiveCell) -> float:
        """Standard deviation of J between windows of one tuple, pooled over the tuples of a cell."""
        return float(np.sqrt(np.mean([np.var(values, ddof=1) for values in cell.values.values()])))

    def has_headroom(self, cell: LiveCell, over: str = DEFAULT) -> bool:
        """Whether the oracle is better than a method by more than twice the noise of a window."""
        gain = _mean(cell, cell.chosen[ORACLE]) - _mean(cell, cell.chosen[over])
        return gain > 2.0 * self.noise(cell)

    def paired(self, baseline: str, among: Sequence[LiveCell] | None = None) -> dict[str, PairedDifference]:
        """Difference of every other method's regret to a baseline's, over some cells or all."""
        wanted = {cell.workload for cell in (self.cells if among is None else among)}
        kept = {
            name: [one for one in outcomes if one.workload_id in wanted] for name, outcomes in self.outcomes.items()
        }
        return {
            name: paired(outcomes, kept[baseline], self.resamples, self.seed)
            for name, outcomes in kept.items()
            if name not in (baseline, ORACLE) and outcomes
        }

    def non_inferiority(self, method: str = PREDICTED) -> dict[str, NonInferiority]:
        """Per workload, whether the method's choice loses less than the margin to the default."""
        found = {}
        for cell in self.cells:
            same = cell.chosen[method] == cell.chosen[DEFAULT]
            gains = np.subtract(cell.values[cell.chosen[method]], cell.values[cell.chosen[DEFAULT]])
            found[cell.workload] = (same, gains, 0.0 if same else inferiority_p_value(gains))
        passed = holm({name: p_value for name, (_, _, p_value) in found.items()})
        return {
            name: NonInferiority(same, float(gains.mean()), p_value, passed[name])
            for name, (same, gains, p_value) in found.items()
        }

    def as_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        with_headroom = [cell for cell in self.cells if self.has_headroom(cell)]
        without = [cell for cell in self.cells if not self.has_headroom(cell)]
        baselines = [name for name in ("sbs", "static_16_3_10") if name in self.outcomes]
        return {
            "cells": [cell.as_dict() for cell in self.cells],
            "methods": {name: self._statistics(name) for name in self.methods},
            "noise": {cell.workload: self.noise(cell) for cell in self.cells},
            "with_headroom": [cell.workload for cell in with_headroom],
            "paired": {
                f"vs_{baseline}{suffix}": {name: asdict(one) for name, one in self.paired(baseline, among).items()}
                for baseline in baselines
                for suffix, among in (("", self.cells), ("_headroom", with_headroom), ("_flat", without))
                if among
            },
            "non_inferiority": {name: asdict(one) for name, one in self.non_inferiority().items()},
        }

    def table(self) -> Table:
        """One row a method, as people read it."""
        table = Table(
            title=f"{len(self.cells)} live workloads of held-out families, in %",
            caption="median and p90 of the share lost to the oracle; in 5 %: workloads that lose no more; kept: those "
            "whose constraints are kept; to SBS: difference in points, with its 95 % interval",
            box=SIMPLE,
            pad_edge=False,
        )
        table.add_column("method", no_wrap=True)
        for heading in ("median", "p90", "in 5 %", "kept", "to SBS", "interval", "s to 95 %"):
            table.add_column(heading, justify="right", no_wrap=True)
        against = self.paired("sbs") if "sbs" in self.outcomes else {}
        for name in self.methods:
            row = self._statistics(name)
            difference = against.get(name)
            shown = "" if difference is None else f"{100 * difference.mean_difference:+.1f}"
            table.add_row(
                LIVE_METHOD_NAMES.get(name, name),
                *(f"{100 * row[key]:.1f}" for key in ("regret_median", "regret_p90", "within_5pct")),
                "" if row["feasible"] is None else f"{100 * row['feasible']:.0f}",
                shown,
                _interval(difference),
                _seconds(row),
            )
        return table

    def _statistics(self, name: str) -> dict[str, Any]:
        cells = self.cells
        known = name != ORACLE_AGAIN
        seconds = [cell.seconds[name] for cell in cells if name in cell.seconds]
        arrived = sorted(one for one in seconds if one is not None)
        return {
            **summary(self.outcomes[name]),
            "feasible": float(np.mean([cell.feasible[cell.chosen[name]] >= 0.5 for cell in cells])) if known else None,
            "arrived": f"{len(arrived)}/{len(seconds)}" if seconds else None,
            "seconds_median": float(np.median(arrived)) if arrived else None,
        }

    def _outcome(self, cell: LiveCell, name: str) -> Outcome:
        chosen = cell.chosen[name]
        value = _mean(cell, chosen)
        lost = regret(value, _mean(cell, cell.chosen[ORACLE]))
        return Outcome(
            cell.workload, cell.family, DEFAULT, name, core_of(chosen), value, lost, abstained=name in cell.abstained
        )


def _mean(cell: LiveCell, core: str) -> float:
    return float(np.mean(cell.values[core]))


def _oracle_again(cell: LiveCell) -> Outcome:
    """The oracle against itself, by the two halves of its windows: what no method can be told from."""
    values = cell.values[cell.chosen[ORACLE]]
    halves = float(np.mean(values[::2])), float(np.mean(values[1::2]))
    lost = abs(regret(min(halves), max(halves)))
    return Outcome(cell.workload, cell.family, DEFAULT, ORACLE_AGAIN, core_of(cell.chosen[ORACLE]), min(halves), lost)


def inferiority_p_value(gains: NDArray[np.float64]) -> float:
    """One-sided t-test of the hypothesis that at least the margin is lost."""
    from scipy.stats import ttest_1samp

    if float(np.std(gains)) < SAME:
        return float(gains.mean() <= np.log1p(-MARGIN))
    return float(ttest_1samp(gains, np.log1p(-MARGIN), alternative="greater").pvalue)


def holm(p_values: Mapping[str, float], level: float = 0.05) -> dict[str, bool]:
    """Which hypotheses are refuted by Holm's step-down procedure."""
    refuted, standing = {}, True
    for rank, (name, p_value) in enumerate(sorted(p_values.items(), key=lambda one: one[1])):
        standing = standing and p_value <= level / (len(p_values) - rank)
        refuted[name] = standing
    return refuted


def _interval(difference: PairedDifference | None) -> str:
    if difference is None or difference.low is None or difference.high is None:
        return ""
    return f"{100 * difference.low:+.1f}..{100 * difference.high:+.1f}"


def _seconds(row: Mapping[str, Any]) -> str:
    if row["arrived"] is None:
        return ""
    median = "-" if row["seconds_median"] is None else f"{row['seconds_median']:.1f}"
    return f"{median} ({row['arrived']})"
