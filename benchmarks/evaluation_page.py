"""Rewrites the measured part of docs/evaluation.md from the report of `benchmarks/replayed_trials.py`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import percent, read_report, replaced

REPORT = Path("benchmarks/reports/replayed_trials.json")
PAGE = Path("docs/evaluation.md")


def main() -> None:
    """Writes the table of replayed trials."""
    PAGE.write_text(replaced(PAGE.read_text(), "replays", table(read_report(REPORT)["rows"])))


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """One line for each kind of records, method and number of trials."""
    heads = ("records", "method", "trials", "mean regret", "its error", "median", "p90", "within 5 %", "of the trials")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        shown = [percent(row[name]) for name in ("regret_mean", "regret_mean_error", "regret_median", "regret_p90")]
        shares = [percent(row[name], 0) for name in ("within_5pct", "tried")]
        cells = [f"{row['records']}, {row['workloads']}", f"`{row['method']}`", str(row["tries"]), *shown, *shares]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
