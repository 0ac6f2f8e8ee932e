"""The part of docs/results-pool.md about disciplines: what `benchmarks/disciplines.py` left, and live shares."""

from collections.abc import Mapping, Sequence
from typing import Any

from poolpilot.pipelines.bench.disciplines.shares import LIVE_PLANS, farthest
from poolpilot.pipelines.bench.parts.classes import POOL
from poolpilot.pipelines.bench.serving.interval import Interval

Row = dict[str, Any]


def disciplines_section(cells: Sequence[Row], report: Mapping[str, Any]) -> str:
    """Shares, bounds and orders."""
    return "\n".join(
        [
            *share_lines(cells, report["shares"]),
            "",
            *bound_lines(report["bounds"]),
            "",
            order_line(report["orders"]),
            "",
        ]
    )


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


def share_lines(cells: Sequence[Row], simulated: Sequence[Row]) -> list[str]:
    """The farthest that a bound of an interval is from its weight, of all plans of a discipline."""
    live = live_shares(cells)
    plans = {plan.name: plan for plan in LIVE_PLANS}
    lines = ["| discipline | shares of | plans | points off, simulated | points off, live |", "|---" * 5 + "|"]
    for discipline, of in dict.fromkeys((row["discipline"], row["of"]) for row in simulated):
        rows = [row for row in simulated if (row["discipline"], row["of"]) == (discipline, of)]
        there = [farthest(plans[row["plan"]], live[row["plan"]]) for row in rows if row["plan"] in live]
        worst = f"{max(there):.2f}" if there else "-"
        lines.append(f"| {discipline} | {of} | {len(rows)} | {max(row['points_off'] for row in rows):.2f} | {worst} |")
    return lines


def bound_lines(rows: Sequence[Row]) -> list[str]:
    """The longest stay of each discipline beside its bound, with two queues."""
    lines = ["| discipline | bound, ms | longest stay, ms |", "|---" * 3 + "|"]
    bounded: dict[str, Row] = {}
    for row in rows:
        if row["bound_ms"] is not None:
            bounded.setdefault(row["discipline"], row)
    lines += [f"| {name} | {row['bound_ms']:.1f} | {row['longest_ms']:.1f} |" for name, row in bounded.items()]
    starving = ", ".join(f"`{row['discipline']}`" for row in rows if row["bound_ms"] is None)
    return [*lines, "", f"No bound: {starving} (where a weight is 0). A low class may starve there."]


def order_line(rows: Sequence[Row]) -> str:
    """How many sequences came out as the rule says."""
    alike, all_of_them = (sum(row[key] for row in rows) for key in ("alike", "sequences"))
    names = ", ".join(f"`{name}`" for name in dict.fromkeys(row["discipline"] for row in rows))
    return f"The order of {names} is as the rule says in {alike:,} of {all_of_them:,} random sequences."
