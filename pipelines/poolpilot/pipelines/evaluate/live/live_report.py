"""What a live evaluation says: one row a method, over the workloads whose reference repeats."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from poolpilot.env.objective import regret
from poolpilot.pipelines.evaluate.live.live_run import REFERENCE, LiveResult, MethodRun
from poolpilot.pipelines.evaluate.regret_statistics import WITHIN, clustered_interval

LEAST_FAMILIES = 3
"""Families below which no interval is stated: two clusters have none worth the name."""


@dataclass(frozen=True)
class LiveReport:
    """All workloads of a live evaluation.

    Attributes:
        results: The workloads.
        resamples: Bootstrap samples of the intervals.
        seed: Seed of the bootstrap.
    """

    results: Sequence[LiveResult]
    resamples: int = 5000
    seed: int = 0

    @property
    def kept(self) -> list[LiveResult]:
        """The workloads whose sweep's best, measured afresh, held; the others are censored."""
        return [result for result in self.results if result.repeats]

    @property
    def methods(self) -> list[str]:
        """Every method, the best mean regret first."""
        names = [run.method for run in self.results[0].runs] if self.results else []
        return sorted(names, key=lambda name: self.statistics(name).get("regret_mean", np.inf))

    def statistics(self, method: str) -> dict[str, Any]:
        """What a method lost and cost; empty where every workload is censored."""
        pairs = [(result.family, _run(result, method), _run(result, REFERENCE)) for result in self.kept]
        if not pairs:
            return {}
        regrets = np.array([regret(run.value, reference.value) for _, run, reference in pairs])
        shares = np.array([run.goodput_share for _, run, _ in pairs])
        runs = [run for _, run, _ in pairs]
        low, high = self._interval([family for family, _, _ in pairs], regrets)
        return {
            "goodput_share_mean": float(shares.mean()),
            "goodput_share_p10": float(np.quantile(shares, 0.1)),
            "regret_mean": float(regrets.mean()),
            "regret_mean_low": low,
            "regret_mean_high": high,
            "regret_median": float(np.median(regrets)),
            "regret_p90": float(np.quantile(regrets, 0.9)),
            "within_5pct": float(np.mean(regrets <= WITHIN)),
            "tries": float(np.mean([run.tries for run in runs])),
            "on_the_way": _mean(runs, lambda run: run.on_the_way),
            "unsafe": float(np.mean([run.unsafe for run in runs])),
            "threads": _mean(runs, lambda run: run.threads),
            "largest_error": max(run.error for run in runs),
        }

    def _interval(self, families: Sequence[str], regrets: NDArray[np.float64]) -> tuple[float | None, float | None]:
        if len(set(families)) < LEAST_FAMILIES:
            return None, None
        by_family: dict[str, list[float]] = defaultdict(list)
        for family, value in zip(families, regrets, strict=True):
            by_family[family].append(float(value))
        return clustered_interval(by_family, self.resamples, self.seed)

    def as_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        return {
            "workloads": len(self.results),
            "censored": [result.workload for result in self.results if not result.repeats],
            "methods": {method: self.statistics(method) for method in self.methods},
            "results": [result.as_dict() for result in self.results],
        }

    def table(self) -> Table:
        """The methods as people read them, the best first."""
        censored = len(self.results) - len(self.kept)
        title = f"{len(self.kept)} workloads, live; {censored} censored, whose reference did not repeat"
        table = Table(title=title, title_justify="left")
        for heading in ("method", "goodput", "p10", "regret", "95 %", "p90", "tries", "way", "unsafe"):
            table.add_column(heading, justify="left" if heading == "method" else "right")
        for method in self.methods:
            table.add_row(method, *_cells(self.statistics(method)))
        table.caption = (
            "goodput and regret against the best of the workload's own sweep, all measured afresh; 95 %: interval of\n"
            "the mean regret over families; way: goodput of the method's own seconds; unsafe: share of windows under\n"
            "80 % of the first one's goodput"
        )
        table.caption_justify = "left"
        return table


def _run(result: LiveResult, method: str) -> MethodRun:
    return next(run for run in result.runs if run.method == method)


def _mean(runs: Sequence[MethodRun], of: Callable[[MethodRun], float | None]) -> float | None:
    values = [value for run in runs if (value := of(run)) is not None]
    return float(np.mean(values)) if values else None


def _cells(statistics: Mapping[str, Any]) -> list[str]:
    if not statistics:
        return [""] * 8
    low, high = statistics["regret_mean_low"], statistics["regret_mean_high"]
    return [
        f"{statistics['goodput_share_mean']:.3f}",
        f"{statistics['goodput_share_p10']:.3f}",
        f"{statistics['regret_mean']:.1%}",
        "" if low is None else f"{low:.1%}..{high:.1%}",
        f"{statistics['regret_p90']:.1%}",
        f"{statistics['tries']:.1f}",
        "" if statistics["on_the_way"] is None else f"{statistics['on_the_way']:.2f}",
        f"{statistics['unsafe']:.1%}",
    ]
