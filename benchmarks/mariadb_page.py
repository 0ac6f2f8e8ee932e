"""Writes the tables and the plot of docs/mariadb.md from the reports that other commands leave.

How to run: `python benchmarks/mariadb_page.py` after `poolpilot evaluate --server mariadb --json
benchmarks/reports/mariadb.json` and the other `mariadb_*.py`. Results to expect: the parts of the page between their
markers are written anew; a part without its report stays as it is.
"""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pages import percent, read_report, replaced
from poolpilot.env.objective import regret
from poolpilot.pipelines.evaluate.mariadb_cell import DEFAULT, LiveCell, core_of
from poolpilot.pipelines.evaluate.mariadb_evaluation import ORACLE_AGAIN, LiveEvaluation
from poolpilot.pipelines.evaluate.statistics.regret_statistics import LIVE_METHOD_NAMES, WITHIN

SHOWN_METHODS = ("default", "sbs", "static_16_3_10", "predicted", "refined", "cold", "nearest", "trees")
PLOT = Path("docs/images/mariadb.png")


def difference(one: Mapping[str, float | None] | None) -> str:
    """A paired difference in points with its interval."""
    if one is None:
        return ""
    if one["low"] is None or one["high"] is None or one["mean_difference"] is None:
        return f"{100 * (one['mean_difference'] or 0.0):+.1f}"
    return f"{100 * one['mean_difference']:+.1f} ({100 * one['low']:+.1f} .. {100 * one['high']:+.1f})"


def evaluated(report: Mapping[str, Any]) -> LiveEvaluation:
    """The cells of a report, which are judged anew: what else it holds has the intervals of the day it was made."""
    return LiveEvaluation([LiveCell.from_dict(one) for one in report["cells"]])


def methods_section(report: dict[str, Any]) -> str:
    """One row a method over all cells."""
    lines = [
        "| method | median | p90 | within 5 % | > 5 % below the default | constraints kept | to SBS, points "
        "| to (16, 3, 10) | s to 95 % |",
        "|" + "---|" * 9,
    ]
    evaluation = evaluated(report)
    paired = evaluation.as_dict()["paired"]
    to_sbs, to_static = (paired[f"vs_{name}"] for name in ("sbs", "static_16_3_10"))
    for name, row in report["methods"].items():
        median_s = "-" if row["seconds_median"] is None else f"{row['seconds_median']:.1f}"
        seconds = "" if row["arrived"] is None else f"{row['arrived']}, {median_s}"
        lines.append(
            f"| {LIVE_METHOD_NAMES.get(name, name)} | {percent(row['regret_median'])} | {percent(row['regret_p90'])} | "
            f"{percent(row['within_5pct'], 0)} | {below_default(evaluation, name)} | {percent(row['feasible'], 0)} | "
            f"{difference(to_sbs.get(name))} | {difference(to_static.get(name))} | {seconds} |"
        )
    return "\n".join(lines) + "\n"


def below_default(evaluation: LiveEvaluation, name: str) -> str:
    """In how many cells a method's choice is worth over 5 % less than the default; the oracle again is none."""
    if name == ORACLE_AGAIN:
        return "-"
    pairs = zip(evaluation.outcomes[name], evaluation.outcomes[DEFAULT], strict=True)
    lost = [regret(outcome.value, default.value) for outcome, default in pairs]
    return f"{sum(one > WITHIN for one in lost)} of {len(lost)}"


def headroom_section(report: dict[str, Any]) -> str:
    """Paired differences, split into cells with headroom and flat ones."""
    names = {"headroom": "with headroom", "flat": "flat"}
    paired = evaluated(report).as_dict()["paired"]
    lines = ["| cells | method | to SBS, points | to (16, 3, 10), points |", "|---|---|---|---|"]
    for suffix, words in names.items():
        to_sbs, to_static = (paired.get(f"vs_{baseline}_{suffix}", {}) for baseline in ("sbs", "static_16_3_10"))
        count = (
            len(report["with_headroom"])
            if suffix == "headroom"
            else len(report["cells"]) - len(report["with_headroom"])
        )
        for method in ("predicted", "refined", "default", "cold"):
            if method in to_sbs:
                shown = f"{difference(to_sbs[method])} | {difference(to_static.get(method))}"
                lines.append(f"| {words} ({count}) | {LIVE_METHOD_NAMES.get(method, method)} | {shown} |")
    return "\n".join(lines) + "\n"


def cells_section(report: dict[str, Any]) -> str:
    """One row a cell: every method's tuple and what it loses."""
    evaluation = evaluated(report)
    shown = [LIVE_METHOD_NAMES.get(name, name) for name in SHOWN_METHODS]
    lines = [
        f"| workload | noise | oracle | {' | '.join(shown)} | no worse than the default |",
        "|" + "---|" * (len(SHOWN_METHODS) + 4),
    ]
    for number, cell in enumerate(evaluation.cells):
        losses = []
        for name in SHOWN_METHODS:
            outcome = evaluation.outcomes[name][number]
            losses.append(f"{_tuple(cell.chosen[name])} {100 * outcome.regret:.0f} %")
        judged = report["non_inferiority"][cell.workload]
        verdict = (
            "same tuple"
            if judged["same"]
            else f"{'yes' if judged['holm'] else 'not shown'} (p {judged['p_value']:.3f})"
        )
        noise = percent(report["noise"][cell.workload])
        oracle = _tuple(cell.chosen["oracle"])
        lines.append(f"| {cell.workload} | {noise} | {oracle} | {' | '.join(losses)} | {verdict} |")
    return "\n".join(lines) + "\n"


def signals_section(report: dict[str, Any]) -> str:
    """How well the server's signals agree with the clients."""
    lines = ["| quantity | windows | bias | median error | 90th percentile |", "|---|---|---|---|---|"]
    for quantity, row in report["summary"].items():
        shown = " | ".join(percent(row[key]) for key in ("bias", "error_median", "error_p90"))
        lines.append(f"| {quantity} | {row['windows']:.0f} | {shown} |")
    return "\n".join(lines) + "\n"


def advice_section(rows: list[dict[str, Any]]) -> str:
    """What is advised from several starts, and again."""
    lines = [
        "| workload | start | advised | loses to the best advised | asked again under it | loses then |",
        "|" + "---|" * 6,
    ]
    for row in rows:
        first, then = percent(row["loses"]), percent(row["again_loses"])
        tuples = (tuple(row["advised"]), first, tuple(row["again"]), f"{then} ± {percent(row['error'])}")
        lines.append(f"| {row['workload']} | {row['start']} | {' | '.join(map(str, tuples))} |")
    return "\n".join(lines) + "\n"


def default_section(report: dict[str, Any]) -> str:
    """The longer comparison of prediction and default, one row a workload where they differ."""
    lines = ["| workload | one_shot | gain in J | p of losing 5 % | no worse than the default |", "|" + "---|" * 5]
    for workload, row in report["rows"].items():
        verdict = "yes" if row["refuted"] else "not shown"
        gain = f"{row['gain']:+.3f} ± {row['error']:.3f}"
        lines.append(f"| {workload} | {_tuple(row['predicted'])} | {gain} | {row['p_value']:.4f} | {verdict} |")
    return "\n".join(lines) + "\n"


def cost_section(report: dict[str, Any]) -> str:
    """What watching costs."""
    shares = report["share_of_a_core_a_look_a_second"]
    return (
        f"One look a second takes {percent(shares['size_2'], 2)} of a core of the server at 2 groups and "
        f"{percent(shares['size_128'], 2)} at 128. Cached point selects, watched over unwatched in {report['pairs']} "
        f"interleaved pairs of half a second, a look in each: {report['ratio']:.3f} (95 % interval "
        f"{report['low']:.3f} .. {report['high']:.3f}).\n"
    )


def handling_section(rows: list[dict[str, Any]]) -> str:
    """A thread per connection against the pool."""
    lines = ["| connections | a thread per connection over the pool | standard error |", "|---|---|---|"]
    lines += [f"| {row['connections']} | {row['ratio']:.2f} | {percent(row['error'], 0)} |" for row in rows]
    return "\n".join(lines) + "\n"


def rows_section(report: dict[str, Any]) -> str:
    """What rows and clients say of the long class, over the default of the same server; first draws alone."""
    lines = [
        "| workload | rows a statement | configuration | short requests | long ones, by their clients | by rows read |",
        "|---|---|---|---|---|---|",
    ]
    for row in report["rows"]:
        if not row["workload"].endswith("-0"):
            continue
        size, oversubscribe, stall_limit_ms = row["core"]
        lines.append(
            f"| `{row['workload']}` | {row['rows_per_statement']:,.0f} | ({size}, {oversubscribe}, {stall_limit_ms}) "
            f"| x{row['short']:.1f} | {percent(row['by_class'], 0)} | {percent(row['by_rows'], 0)} |"
        )
    error = report["error"]
    said = (
        f"Shown are first draws. Where statements read many rows, {error['windows']:.0f} windows: the two shares are "
        f"{100 * error['median']:.1f} points apart in the median, {100 * error['greatest']:.1f} at most."
    )
    return "\n".join((*lines, "", said)) + "\n"


SECTIONS: Mapping[str, tuple[str, Callable[[Any], str]]] = {
    "methods": ("mariadb.json", methods_section),
    "headroom": ("mariadb.json", headroom_section),
    "cells": ("mariadb.json", cells_section),
    "default": ("mariadb_default.json", default_section),
    "signals": ("mariadb_signals.json", signals_section),
    "rows": ("rows_read.json", rows_section),
    "advice": ("mariadb_advice.json", advice_section),
    "handling": ("mariadb_handling.json", handling_section),
    "cost": ("mariadb_cost.json", cost_section),
}
"""Marker of a part to the report it is made of."""


def draw(report: dict[str, Any], path: Path) -> None:
    """The share of the oracle's goodput that default, (16, 3, 10) and prediction reach in every cell."""
    from matplotlib.figure import Figure

    cells = report["cells"]
    figure = Figure(figsize=(9, 0.45 * len(cells) + 1.2), layout="constrained")
    axes = figure.subplots()
    methods = (
        ("default", "tab:gray"),
        ("static_16_3_10", "tab:orange"),
        ("predicted", "tab:blue"),
        ("refined", "tab:green"),
    )
    for offset, (name, colour) in enumerate(methods):
        shares = [
            np.mean(cell["goodputs"][cell["chosen"][name]]) / np.mean(cell["goodputs"][cell["chosen"]["oracle"]])
            for cell in cells
        ]
        axes.barh(
            np.arange(len(cells)) + 0.2 * offset - 0.3,
            shares,
            0.2,
            color=colour,
            label=LIVE_METHOD_NAMES.get(name, name),
        )
    axes.set_yticks(np.arange(len(cells)), [cell["workload"] for cell in cells])
    axes.axvline(1.0, color="black", linewidth=0.8, linestyle=":")
    axes.invert_yaxis()
    axes.set(xlabel="goodput as a share of the oracle's", xlim=(0, None))
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=110)


def _tuple(name: str) -> str:
    return str(core_of(name)).replace(" ", "")


def main() -> None:
    """Writes the page and the plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=Path, default=Path("benchmarks/reports"))
    parser.add_argument("--page", type=Path, default=Path("docs/mariadb.md"))
    given = parser.parse_args()
    page = given.page.read_text()
    for name, (file, section) in SECTIONS.items():
        report = read_report(given.reports / file)
        if report is not None:
            page = replaced(page, name, section(report))
    given.page.write_text(page)
    evaluation = read_report(given.reports / "mariadb.json")
    if evaluation is not None:
        draw(evaluation, PLOT)


if __name__ == "__main__":
    main()
