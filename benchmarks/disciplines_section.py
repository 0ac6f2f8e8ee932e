"""The part of docs/pool.md about disciplines: `benchmarks/disciplines.py`'s report, and the shares that were live."""

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
            *order_lines(report["orders"]),
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
    """What each class had, and the farthest bound of an interval from its weight."""
    live = live_shares(cells)
    plans = {plan.name: plan for plan in LIVE_PLANS}
    lines = [
        "| discipline | shares of | weights | simulated shares | farthest bound, points | live shares "
        "| farthest bound, points |",
        "|---" * 7 + "|",
    ]
    for row in simulated:
        there = live.get(row["plan"])
        shares = " : ".join(f"{one['mean']:.2%}" for one in row["shares"].values())
        seen = "" if there is None else " : ".join(f"{one.mean:.2%}" for one in there.values())
        off = "" if there is None else f"{farthest(plans[row['plan']], there):.2f}"
        weights = " : ".join(f"{weight:.3g}" for weight in row["weights"])
        lines.append(
            f"| {row['discipline']} | {row['of']} | {weights} | {shares} | {row['points_off']:.2f} | {seen} | {off} |"
        )
    return lines


def bound_lines(rows: Sequence[Row]) -> list[str]:
    """The longest stay of each discipline beside its bound."""
    lines = [
        "| discipline | a patient request stays at most for | bound, ms | longest, ms | requests |",
        "|---" * 5 + "|",
    ]
    for row in rows:
        bound = "none" if row["bound_ms"] is None else f"{row['bound_ms']:.1f}"
        longest = f"{row['longest_ms']:.1f}" if row["requests"] else "never served"
        lines.append(f"| {row['discipline']} | {row['promise']} | {bound} | {longest} | {row['requests']:,} |")
    return lines


def order_lines(rows: Sequence[Row]) -> list[str]:
    """How many sequences came out as the rule says."""
    lines = ["| discipline | order | sequences | as the rule says |", "|---" * 4 + "|"]
    return lines + [
        f"| {row['discipline']} | {row['promise']} | {row['sequences']:,} | {row['alike']:,} |" for row in rows
    ]
