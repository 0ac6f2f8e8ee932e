"""The part of docs/results-pool.md about disciplines: what `benchmarks/disciplines.py` left, and live shares."""

from collections.abc import Mapping, Sequence
from typing import Any

from poolpilot.pipelines.bench.disciplines.shares import LIVE_PLANS, farthest
from poolpilot.pipelines.bench.parts.classes import POOL
from poolpilot.pipelines.bench.serving.interval import Interval

Row = dict[str, Any]


def disciplines_section(cells: Sequence[Row], report: Mapping[str, Any]) -> str:
    """Shares, bounds and orders."""
    return "\n".join([*promise_lines(cells, report), "", order_line(report["orders"]), ""])


def live_shares(cells: Sequence[Row]) -> dict[str, dict[str, Interval]]:
    """The share of each class with its interval, by plan."""
    plans = {plan.name: plan for plan in LIVE_PLANS}
    return {
        cell["cell"]: {
            name: Interval(**cell["contenders"][POOL][f"{name}_share"])
            for name in plans[cell["cell"]].classes
            if f"{name}_share" in cell["contenders"][POOL]
        }
        for cell in cells
        if POOL in cell["contenders"]
    }


def promise_lines(cells: Sequence[Row], report: Mapping[str, Any]) -> list[str]:
    """How far shares are off at most, of all plans of a discipline, and its longest stay beside the bound."""
    live, simulated = live_shares(cells), report["shares"]
    plans = {plan.name: plan for plan in LIVE_PLANS}
    lines = [
        "| discipline | share, points off: simulated | live | longest stay, ms | its bound |",
        "|---" * 5 + "|",
    ]
    bounded: dict[str, Row] = {}
    for row in report["bounds"]:
        if row["bound_ms"] is not None:
            bounded.setdefault(row["discipline"], row)
    for name, row in bounded.items():
        rows = [one for one in simulated if one["discipline"] == name]
        there = [farthest(plans[one["plan"]], live[one["plan"]]) for one in rows if one["plan"] in live]
        off = [f"{max(each):.2f}" if each else "" for each in ([one["points_off"] for one in rows], there)]
        lines.append(f"| {name} | {' | '.join(off)} | {row['longest_ms']:.1f} | {row['bound_ms']:.1f} |")
    starving = ", ".join(f"`{row['discipline']}`" for row in report["bounds"] if row["bound_ms"] is None)
    return [*lines, "", f"No bound: {starving} (where a weight is 0). A low class may starve there."]


def order_line(rows: Sequence[Row]) -> str:
    """How many sequences came out as the rule says."""
    alike, all_of_them = (sum(row[key] for row in rows) for key in ("alike", "sequences"))
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(row["discipline"] for row in rows))
    return f"The order of {names} is as the rule says in {alike:,} of {all_of_them:,} random sequences."
