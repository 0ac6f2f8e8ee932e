"""What a tuner was worth under workloads of the MariaDB suite, beside the default and a constant: sums and tables."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from poolpilot.featurizer.window import Window
from poolpilot.pipelines.evaluate.live.judging.paired_windows import error_of_difference
from poolpilot.pipelines.evaluate.statistics.regret_statistics import clustered_interval

MEANS = ("tuned_over_default", "tuned_over_constant", "meanwhile_over_default")
"""Gains that are shown in the mean over workloads."""

LEAST_FAMILIES = 3
"""Of fewer there is no interval."""


@dataclass(frozen=True)
class Comparison:
    """The windows of the three tuples under one workload.

    Attributes:
        default: Those of the default.
        constant: Those of the constant.
        tuned: Those of the tuple that the tuner left.
    """

    default: Sequence[Window]
    constant: Sequence[Window]
    tuned: Sequence[Window]

    def gain(self, windows: Sequence[Window], over: Sequence[Window]) -> tuple[float, float]:
        """Mean difference of ln throughput, and its standard error by rounds."""
        logs, others = _rounds(windows), _rounds(over)
        return float((logs - others).mean()), error_of_difference(logs, others)

    def as_dict(self) -> dict[str, Any]:
        """What it comes to, fit for JSON; gains are of ln throughput, each with its standard error."""
        return {
            "default_per_s": float(np.exp(_rounds(self.default).mean())),
            "tuned_over_default": self.gain(self.tuned, self.default),
            "tuned_over_constant": self.gain(self.tuned, self.constant),
            "constant_over_default": self.gain(self.constant, self.default),
            "p99_over_default": self._p99(self.tuned) - self._p99(self.default),
            "tuned_least_class": self.least_class(self.tuned),
            "constant_least_class": self.least_class(self.constant),
        }

    def least_class(self, windows: Sequence[Window]) -> float | None:
        """What the class that loses most completes over what it does under the default; None if none did any."""
        before, now = Window.pooled(self.default).classes, Window.pooled(windows).classes
        shares = [
            (now[name].throughput_per_s if name in now else 0.0) / each.throughput_per_s
            for name, each in before.items()
            if each.throughput_per_s > 0.0
        ]
        return min(shares, default=None)

    @staticmethod
    def _p99(windows: Sequence[Window]) -> float:
        return float(np.mean([math.log(window.p99_ms) for window in windows if window.p99_ms]))


def summary_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Mean gains of ln throughput over workloads, with intervals clustered by family where there are enough."""
    found: dict[str, Any] = {"workloads": len(rows), "families": len({row["family"] for row in rows})}
    for name in (*MEANS, "constant_over_default"):
        by_family: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            value = row[name]
            by_family[row["family"]].append(value if isinstance(value, float) else value[0])
        enough = len(by_family) >= LEAST_FAMILIES
        found[name] = {
            "mean": float(np.mean([one for each in by_family.values() for one in each])),
            "interval": clustered_interval(by_family, 5000, 0) if enough else None,
        }
    return found


def table_of(rows: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> Table:
    """The report as people read it."""
    heads = ("workload", "left in force", "over default", "over (16, 3, 10)", "meanwhile", "unsafe", "least class")
    table = Table(*heads)
    for row in rows:
        table.add_row(
            row["workload"],
            str(tuple(row["tuned"])),
            _times(*row["tuned_over_default"]),
            _times(*row["tuned_over_constant"]),
            _times(row["meanwhile_over_default"]),
            f"{row['unsafe']:.0%}",
            least_classes(row),
        )
    table.add_section()
    table.add_row("geometric mean", "", *(_times(summary[name]["mean"]) for name in MEANS), "", "")
    return table


def least_classes(row: Mapping[str, Any]) -> str:
    """The class that loses most under what the tuner left and under the constant; nothing where it was not counted."""
    shares = [row.get(f"{of}_least_class") for of in ("tuned", "constant")]
    return ", ".join(f"x{share:.2f}" for share in shares if share is not None)


def _times(log: float, error: float | None = None) -> str:
    return f"x{math.exp(log):.2f}" + ("" if error is None else f" (error {error:.1%})")


def _rounds(windows: Sequence[Window]) -> NDArray[np.float64]:
    """Mean ln throughput of the two windows of every round, (rounds,)."""
    logs = np.log([max(window.throughput_per_s, 1e-3) for window in windows])
    means: NDArray[np.float64] = logs.reshape(-1, 2).mean(axis=1)
    return means
