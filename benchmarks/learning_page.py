"""Rewrites what minutes of `poolpilot learn` bring, in docs/learning-where-you-run.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import percent, read_report, replaced, table

REPORT = Path("benchmarks/reports/learn_by_minutes.json")
PAGE = Path("docs/learning-where-you-run.md")
HEADS = ("learned", "own curves", "trials", "mean regret", "95 %", "beyond one that saw them all", "95 %")


def main() -> None:
    """Writes the part."""
    if (report := read_report(REPORT)) is not None:
        PAGE.write_text(replaced(PAGE.read_text(), "by-minutes", by_minutes(report)))


def by_minutes(report: Mapping[str, Any]) -> str:
    """A line for each library and number of trials."""
    lines = []
    for row in report["rows"]:
        named = f"{row['learned']} minutes" if row["own_curves"] is not None else row["learned"]
        own = "-" if row["own_curves"] is None else row["own_curves"]
        cells = (named, own, row["tries"], percent(row["regret"]), _range(row["interval"]))
        beyond = "-" if row["beyond_interval"] is None else f"{100 * row['beyond']:+.1f} points"
        lines.append((*map(str, cells), beyond, _range(row["beyond_interval"])))
    memory = f"at most {report['peak_gib']:.1f} GiB of memory for all its processes together"
    return f"{report['workloads']} held-out workloads; {memory}.\n\n{table(HEADS, lines)}"


def _range(ends: Sequence[float] | None) -> str:
    return "-" if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f}"


if __name__ == "__main__":
    main()
