"""Statistics of every rival over the workloads of a set."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from poolpilot.pipelines.evaluate.statistics.regret_statistics import interval_by_family
from rivals.knowledge import HeldOut

Row = Mapping[str, Any]
"""What one method ended on under one workload: its choice, its regret, and how many of its trials were unsafe."""

UNSAFE = 0.8
"""A trial with less than this share of the default's goodput is unsafe."""

LEAST_FAMILIES = 3
"""An interval from fewer clusters would say nothing."""

Listed = Sequence[tuple[str, Mapping[str, Row]]]
"""Family and rows by method of every workload."""


def mean_row(rows: Sequence[Row]) -> Row:
    """One method that draws, with several seeds on one workload: means, and the regret of each draw beside them."""
    return {
        "method": rows[0]["method"],
        "chosen": [row["chosen"] for row in rows],
        "regrets": [row["regret"] for row in rows],
        "regret": mean([row["regret"] for row in rows]),
        "unsafe": mean([row["unsafe"] for row in rows]),
    }


def rows_of(
    found: Sequence[tuple[HeldOut, Sequence[Row]]], kinds: Sequence[str], rivals: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Statistics of every method on each kind of workloads.

    Args:
        found: Every workload with what the methods ended on.
        kinds: Kinds of workloads.
        rivals: What a method is compared with beside the portfolio, by the name of the method without its trials.
    """
    rows = []
    for kind in kinds:
        listed = [(case.family, {row["method"]: row for row in each}) for case, each in found if case.kind == kind]
        for method in listed[0][1] if listed else ():
            rows.append({"kind": kind, "method": method, **summary(listed, method, rivals)})
    return rows


def summary(listed: Listed, method: str, rivals: Mapping[str, str]) -> dict[str, Any]:
    """Statistics of one method; intervals are over families, or over compositions."""
    rows = [by_method[method] for _, by_method in listed]
    # All workloads have as many draws of a method, so that each counts alike; the mean is that of the rows, too.
    regrets = np.concatenate([row.get("regrets", [row["regret"]]) for row in rows])
    low, high = interval(listed, lambda by_method: by_method[method]["regret"])
    name, _, tries = method.rpartition("_")
    against = f"portfolio_{tries}" if tries.isdigit() else "constant_best"
    return {
        "name": name if tries.isdigit() else method,
        "tries": int(tries) if tries.isdigit() else 0,
        "workloads": len(rows),
        "families": len({family for family, _ in listed}),
        "regret_mean": float(regrets.mean()),
        "regret_low": low,
        "regret_high": high,
        "against_high": difference(listed, method, against)[1],
        "unsafe": mean([row["unsafe"] for row in rows]),
        **rival_of(listed, method, rivals),
    }


def rival_of(listed: Listed, method: str, rivals: Mapping[str, str]) -> dict[str, Any]:
    """The difference in regret to the rival with as many trials; empty where a method has none."""
    name, _, tries = method.rpartition("_")
    if name not in rivals:
        return {}
    rival = f"{rivals[name]}_{tries}"
    low, high = difference(listed, method, rival)
    return {"rival": rival, "rival_low": low, "rival_high": high}


def difference(listed: Listed, method: str, other: str) -> tuple[float | None, float | None]:
    """The interval of the difference in regret of two methods; below 0 the first loses less."""
    return interval(listed, lambda by_method: by_method[method]["regret"] - by_method[other]["regret"])


def interval(listed: Listed, of: Callable[[Mapping[str, Row]], float]) -> tuple[float | None, float | None]:
    """The 95 % interval of a mean, clustered by family; none for fewer than three of them."""
    return interval_by_family(((family, of(by_method)) for family, by_method in listed), 5000, 0)


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of those that are known."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
