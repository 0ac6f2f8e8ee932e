"""Rewrites what minutes of `poolpilot learn` bring, in docs/learning.md."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pages import percent, read_report, replaced, table

REPORT = Path("benchmarks/reports/learn_by_minutes.json")
PAGE = Path("docs/learning.md")


def main() -> None:
    """Writes the part."""
    PAGE.write_text(replaced(PAGE.read_text(), "by-minutes", by_minutes(read_report(REPORT)["rows"])))


def by_minutes(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line for each library, with its regret after so many trials."""
    libraries = list(dict.fromkeys((row["learned"], row["own_curves"]) for row in rows))
    tries = sorted({row["tries"] for row in rows})
    regrets = {(row["learned"], row["tries"]): regret(row) for row in rows}
    lines = [[*titles(*each), *(regrets[each[0], number] for number in tries)] for each in libraries]
    return table(("learned", "own curves", *(f"{number} trial{'s' * (number > 1)}" for number in tries)), lines)


def titles(learned: str, own_curves: int | None) -> tuple[str, str]:
    """What a library has learned, and from how many curves of its own."""
    return (learned, "-") if own_curves is None else (f"{learned} minutes", str(own_curves))


def regret(row: Mapping[str, Any]) -> str:
    """Its mean over workloads, with the interval."""
    low, high = row["interval"]
    return f"{percent(row['regret'])} ({100 * low:.1f} to {100 * high:.1f})"


if __name__ == "__main__":
    main()
