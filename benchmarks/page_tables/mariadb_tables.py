"""The tables of docs/results-mariadb.md."""

import math
from collections.abc import Mapping
from typing import Any

from page_tables.part import Part, percent, table

LITTLE = 0.5
"""A bound below this share is of use to who asks whether to bother."""

ERRORS = 2.0

PLACES = {"native": "embedded pool", "MariaDB": "test server", "suite": "MariaDB suite", "simulated": "simulated"}


def bound_section(report: Mapping[str, Any]) -> str:
    """How often sweeps gained more than the bound allows, and how often it says anything."""
    rows = []
    for name, workloads in report["workloads"].items():
        bounds = [one.get("bound") for one in workloads]
        exceeded = sum(is_exceeded(one) for one in workloads)
        below = sum(bound is not None and math.expm1(bound) < LITTLE for bound in bounds)
        rows.append((PLACES[name], *map(str, (len(workloads), exceeded, below, bounds.count(None)))))
    return table(("records", "workloads", "exceeded", f"bound below {percent(LITTLE, 0)}", "no bound"), rows)


def is_exceeded(workload: Mapping[str, Any]) -> bool:
    """Whether a workload gained more than its bound allows, beyond two standard errors."""
    bound = workload.get("bound")
    return bound is not None and workload["gain"] - bound > ERRORS * workload["error"]


def walks_section(report: Mapping[str, Any]) -> str:
    """How often the default is left alone, and how far who follows the advice is led, by the load."""
    rows = [
        (
            percent(row["share"], 0),
            f"{row['left_alone']} of {row['draws']}",
            str(row["walks"]),
            str(row["most_steps"]),
            str(row["come_back"]),
        )
        for row in report["rows"]
    ]
    heads = ("load, of what the default can give", "default left alone", "walks", "steps at most", "came back")
    return table(heads, rows)


def cost_section(report: Mapping[str, Any]) -> str:
    """What watching costs."""
    shares = report["share_of_a_core_a_look_a_second"]
    interval = f"{report['ratio']:.3f} ({report['low']:.3f} .. {report['high']:.3f})"
    rows = (
        ("share of a processor, one reading a second, 2 groups", percent(shares["size_2"], 2)),
        ("the same, 128 groups", percent(shares["size_128"], 2)),
        (f"throughput, observed over unobserved, {report['pairs']} pairs (95 %)", interval),
    )
    return table(("measure", "value"), rows)


PAGE = "docs/results-mariadb.md"
PARTS = (
    Part(PAGE, "bound", ("gain_bound",), bound_section),
    Part(PAGE, "walks", ("advice_walks",), walks_section),
    Part(PAGE, "cost", ("mariadb_cost",), cost_section),
)
