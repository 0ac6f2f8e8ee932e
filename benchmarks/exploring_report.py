"""What trials to learn from have brought: means of both arms, and of their difference with intervals over families."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rich.table import Table

from poolpilot.pipelines.evaluate.statistics.regret_statistics import clustered_interval

RESAMPLES = 10_000

Row = Mapping[str, Any]
"""Both arms, `with` and `without`, on one workload from one start."""


def summary(rows: Sequence[Row], arms: Sequence[str], minutes: float) -> dict[str, Any]:
    """Means of both arms, and what learning adds at the end and over the whole time."""
    families = {row["family"] for row in rows}
    return {
        "runs": len(rows),
        "workloads": len({row["seed"] for row in rows}),
        "families": len(families),
        **{f"{what}_added": added(rows, what) for what in ("end", "gain")},
        **{arm: _of_arm(rows, arm, minutes) for arm in arms},
    }


def added(rows: Sequence[Row], what: str) -> dict[str, float | None]:
    """Mean and median of what learning adds, and the mean's 95 % interval: draws of one family resemble each other."""
    by_family: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by_family[row["family"]].append(row["with"][what] - row["without"][what])
    differences = [one for each in by_family.values() for one in each]
    low, high = clustered_interval(by_family, RESAMPLES, 0)
    return {"mean": float(np.mean(differences)), "low": low, "high": high, "median": float(np.median(differences))}


def _of_arm(rows: Sequence[Row], arm: str, minutes: float) -> dict[str, float]:
    return {
        "end": float(np.mean([row[arm]["end"] for row in rows])),
        "below_best": float(np.mean([row["best"] - row[arm]["end"] for row in rows])),
        "changes_a_day": float(np.mean([row[arm]["changes"] for row in rows])) * 1440.0 / minutes,
        "tries": float(np.mean([row[arm]["tries"] for row in rows])),
        **{name: sum(row[arm][name] for row in rows) for name in ("to_learn", "windows", "changed", "unsafe")},
        "in_a_row": max(row[arm]["in_a_row"] for row in rows),
    }


def table_of(report: Mapping[str, Row], arms: Sequence[str]) -> Table:
    """The report as people read it; unsafe windows are counted among those of another configuration than the first."""
    table = Table(
        "from", "runs", "arm", "end over untouched", "added at the end", "trials", "changes", "unsafe", "in a row"
    )
    for name, row in report.items():
        for place, arm in enumerate(arms):
            one = row[arm]
            table.add_row(
                *((name, str(row["runs"])) if place == 0 else ("", "")),
                arm,
                f"{100 * math.expm1(one['end']):+.0f} %",
                shown(row["end_added"]) if arm == "with" else "",
                f"{one['tries']:.1f}",
                f"{one['changes_a_day']:.0f} a day",
                f"{one['unsafe']} of {one['changed']}",
                str(one["in_a_row"]),
            )
    return table


def shown(of: Mapping[str, float | None]) -> str:
    """A mean gain in per cent with its interval, where there is one, and the median."""
    mean, low, high, median = (
        "?" if value is None else f"{100 * math.expm1(value):+.1f}"
        for value in (of["mean"], of["low"], of["high"], of["median"])
    )
    return f"{mean} % ({low} to {high}; median {median})"
