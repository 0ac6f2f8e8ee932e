"""Rewrites the measured tables of docs/tuner.md: days beside the untouched default, and unsafe windows."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import percent, read_report, replaced, table

DAYS = Path("benchmarks/reports/tuner_day_undisturbed.json")
UNSAFE = Path("benchmarks/reports/unsafe_windows.json")
PAGE = Path("docs/tuner.md")

METHODS = {"tuner": "tuner", "constant": "best constant of the known curves"}
STARTS = {"both": "both", "default": "the default", "constant": "the best constant"}


def main() -> None:
    """Writes both tables."""
    page = replaced(PAGE.read_text(), "tuner-days", days_table(read_report(DAYS)["methods"]))
    PAGE.write_text(replaced(page, "unsafe-windows", unsafe_table(read_report(UNSAFE)["rows"])))


def days_table(methods: Mapping[str, Mapping[str, float]]) -> str:
    """One line for each method."""
    heads = ("", "requests completed (one standard error)", "worst day", "rate", "regret", "unsafe", "changes a day")
    return table(heads, [[title, *day_cells(methods[name])] for name, title in METHODS.items()])


def day_cells(row: Mapping[str, float]) -> list[str]:
    """What a method made of its days, beside the untouched default."""
    return [
        f"x{math.exp(row['completed']):.2f} ({percent(row['completed_error'], 0)})",
        f"x{math.exp(row['worst_completed']):.2f}",
        f"x{math.exp(row['log_rate']):.2f}",
        percent(row["regret"], 0),
        percent(row["unsafe"] / row["bins"]),
        f"{row['changes']:.0f}",
    ]


def unsafe_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line for each predictor and start."""
    heads = (
        "predictor",
        "from",
        "runs",
        "guarded",
        "followed at once",
        "fewer",
        "95 % bound",
        "most in a row",
        "median gain",
    )
    return table(heads, [unsafe_cells(row) for row in rows])


def unsafe_cells(row: Mapping[str, Any]) -> list[str]:
    """Unsafe windows among those of another configuration than the first, guarded and not."""
    return [
        row["predictor"],
        STARTS[row["start"]],
        str(row["runs"]),
        f"{row['guarded_unsafe']} of {row['guarded_changed']:,}",
        f"{row['unguarded_unsafe']} of {row['unguarded_changed']:,}",
        percent(row["avoided"]),
        percent(row["avoided_low"]),
        f"{row['guarded_in_a_row']}, {row['unguarded_in_a_row']}",
        f"{100 * row['guarded_gain']:+.0f} %, {100 * row['unguarded_gain']:+.0f} %",
    ]


if __name__ == "__main__":
    main()
