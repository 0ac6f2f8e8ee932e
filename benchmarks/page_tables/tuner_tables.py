"""The measured tables of docs/tuner.md: simulated days, unsafe windows, MariaDB."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from page_tables.part import Part, percent, table
from unsafe_windows.unsafe_counts import ARMS

METHODS = {
    "tuner": "tuner",
    "constant": "best constant of the known curves",
}
PREDICTORS = {"shipped": "as shipped", "at random": "at random"}
MEANS = ("tuned_over_default", "tuned_over_constant")


def days_table(report: Mapping[str, Any]) -> str:
    """One line for each method that lived through the days."""
    heads = ("method", "requests (standard error)", "worst day", "regret", "unsafe", "slow", "changes a day")
    return table(heads, ([title, *day_cells(report["methods"][name])] for name, title in METHODS.items()))


def day_cells(row: Mapping[str, float]) -> list[str]:
    """What a method made of its days, beside the untouched default."""
    return [
        f"x{math.exp(row['completed']):.2f} ({percent(row['completed_error'], 0)})",
        f"x{math.exp(row['worst_completed']):.2f}",
        percent(row["regret"], 0),
        percent(row["unsafe"] / row["bins"]),
        percent(row["slow"] / row["bins"]),
        f"{row['changes']:.0f}",
    ]


def pays_table(report: Mapping[str, Any]) -> str:
    """One line for each workload of the MariaDB suite, and one for their geometric mean with its 95 % interval."""
    heads = ("workload", "left in force", "over the default", "over (16, 3, 10)")
    means = [mean_cell(report["summary"][name]) for name in MEANS]
    return table(heads, [*map(pays_cells, report["rows"]), ["mean (95 %)", "", *means]])


def pays_cells(row: Mapping[str, Any]) -> list[str]:
    """What the tuner made of one workload."""
    return [
        f"`{row['family']}`",
        str(tuple(row["tuned"])),
        *(f"x{math.exp(gain):.2f} ({percent(error, 0)})" for gain, error in (row[name] for name in MEANS)),
    ]


def mean_cell(found: Mapping[str, Any]) -> str:
    """A geometric mean over workloads, with its interval where there is one."""
    interval = "" if found["interval"] is None else " ({:.2f} to {:.2f})".format(*map(math.exp, found["interval"]))
    return f"x{math.exp(found['mean']):.2f}{interval}"


def unsafe_part(simulated: Mapping[str, Any], live: Mapping[str, Any]) -> str:
    """Those of simulated pools, and of the embedded one."""
    return unsafe_table(simulated["rows"], live["rows"][0])


def unsafe_table(simulated: Sequence[Mapping[str, Any]], live: Mapping[str, Any]) -> str:
    """One line for each predictor on simulated pools, and one for the embedded pool in real time."""
    heads = ("pool", "advisor", "unsafe with guard", "without", "avoided (95 % bound)", "most in a row")
    return table(heads, [*(unsafe_cells("simulated", row) for row in simulated), unsafe_cells("embedded, live", live)])


def unsafe_cells(pool: str, row: Mapping[str, Any]) -> list[str]:
    """Unsafe windows among those of another configuration than the first, guarded and not."""
    of_changed = [f"{row[f'{arm}_unsafe']:,} of {row[f'{arm}_changed']:,}" for arm in ARMS]
    avoided = f"{percent(row['avoided'])} ({percent(row['avoided_low'])})"
    longest = ", ".join(str(row[f"{arm}_in_a_row"]) for arm in ARMS)
    return [pool, PREDICTORS[row["predictor"]], *of_changed, avoided, longest]


PAGE = "docs/tuner.md"
PARTS = (
    Part(PAGE, "tuner-days", ("tuner_days",), days_table),
    Part(PAGE, "unsafe-windows", ("unsafe_windows", "unsafe_live"), unsafe_part),
    Part(PAGE, "tuner-pays", ("tuner_pays",), pays_table),
)
