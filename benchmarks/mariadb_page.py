"""Writes the tables of docs/results-mariadb.md from the reports that other commands leave.

How to run: `python benchmarks/mariadb_page.py` after the commands that the page names. Results to expect: the parts of
the page between their markers are written anew; a part without its report stays as it is.
"""

import argparse
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import percent, read_report, replaced, table

LITTLE = 0.5
"""A bound below this share is of use to who asks whether to bother."""

ERRORS = 2.0
SHOWN_CORES = ((4, 3, 10), (16, 3, 10))
"""Configurations that the table of long statements shows; the report has all."""

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


def signals_section(report: Mapping[str, Any]) -> str:
    """How well the server's signals agree with the clients."""
    rows = [
        (quantity, f"{row['windows']:.0f}", *(percent(row[key]) for key in ("bias", "error_median", "error_p90")))
        for quantity, row in report["summary"].items()
    ]
    return table(("quantity", "windows", "bias", "median error", "90th percentile"), rows)


def rows_section(report: Mapping[str, Any]) -> str:
    """What rows and clients say of the long class, over the default of the same server; first draws alone."""
    rows = [
        (
            f"`{row['workload'].rsplit('-', 2)[0]}`",
            f"{row['rows_per_statement']:,.0f}",
            str(tuple(row["core"])),
            f"x{row['short']:.1f}",
            percent(row["by_class"], 0),
            percent(row["by_rows"], 0),
        )
        for row in report["rows"]
        if row["workload"].endswith("-0") and tuple(row["core"]) in SHOWN_CORES
    ]
    heads = ("workload", "rows a statement", "configuration", "short requests", "long ones, by clients", "by rows")
    error = report["error"]
    points = [f"{100 * error[key]:.1f}" for key in ("median", "greatest")]
    apart = table(
        ("windows with many rows a statement", "difference of the two shares, median points", "greatest"),
        [(f"{error['windows']:.0f}", *points)],
    )
    return f"{table(heads, rows)}\n{apart}"


def handling_section(rows: Sequence[Mapping[str, Any]]) -> str:
    """A thread per connection against the pool."""
    cells = [(str(row["connections"]), f"{row['ratio']:.2f}", percent(row["error"], 0)) for row in rows]
    return table(("connections", "throughput, thread per connection over pool", "standard error"), cells)


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


SECTIONS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "bound": ("gain_bound.json", bound_section),
    "walks": ("advice_walks.json", walks_section),
    "signals": ("mariadb_signals.json", signals_section),
    "rows": ("rows_read.json", rows_section),
    "handling": ("mariadb_handling.json", handling_section),
    "cost": ("mariadb_cost.json", cost_section),
}
"""Marker of a part to the report it is made of."""


def main() -> None:
    """Writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports"))
    parser.add_argument("--page", type=Path, default=Path("docs/results-mariadb.md"))
    given = parser.parse_args()
    page = given.page.read_text()
    for name, (file, section) in SECTIONS.items():
        report = read_report(given.reports / file)
        if report is not None:
            page = replaced(page, name, section(report))
    given.page.write_text(page)


if __name__ == "__main__":
    main()
