"""What demonstrations come to: what each method loses to the best of its comparison."""

import math
from collections.abc import Sequence
from statistics import median

import numpy as np

from page_tables.part import Report, percent, table
from poolpilot.pipelines.demo.demo_report import METHODS

COMPARED = tuple(name for name in METHODS if name != "best")
HEADS = ("configuration of", "loses to the best: median", "90th percentile", "told apart from it", "s to 95 % of it")


def demo_tables(report: Report) -> str:
    """Both tables of docs/results.md."""
    return f"{summary_table(report)}\n{family_table(report)}"


def summary_table(report: Report) -> str:
    """A line a method over all workloads, as README has it too."""
    workloads = report["workloads"]
    return table(HEADS, (_summary(name, [one[name] for one in workloads]) for name in COMPARED))


def family_table(report: Report) -> str:
    """What each method loses in the median on the workloads of a family."""
    workloads = report["workloads"]
    families = dict.fromkeys(_family(one) for one in workloads)
    rows = []
    for family in families:
        own = [one for one in workloads if _family(one) == family]
        losses = (percent(median(one[name]["regret"] for one in own)) for name in COMPARED)
        rows.append((f"`{family}`", str(len(own)), *losses))
    return table(("family, median loss", "workloads", *(METHODS[name] for name in COMPARED)), rows)


def _summary(name: str, rows: Sequence[Report]) -> tuple[str, ...]:
    losses = [row["regret"] for row in rows]
    told = sum(row["told_apart"] for row in rows)
    cells = (percent(median(losses)), percent(float(np.quantile(losses, 0.9))), f"{told} of {len(rows)}")
    return (METHODS[name], *cells, _arrival(rows))


def _arrival(rows: Sequence[Report]) -> str:
    """Median seconds until 95 % of the best goodput; a dash for what does not climb, or arrives on less than half."""
    if "time_to_95_s" not in rows[0]:
        return "-"
    arrived_s = median(math.inf if row["time_to_95_s"] is None else row["time_to_95_s"] for row in rows)
    return f"{arrived_s:.1f}" if math.isfinite(arrived_s) else "not in time"


def _family(workload: Report) -> str:
    return str(workload["name"].rsplit("-", 2)[0])
