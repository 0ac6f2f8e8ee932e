"""A part of a page between its markers, and what all writers of parts share."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPORTS = Path("benchmarks/reports")
INTERVAL = {"mean", "low", "high"}

Report = Any
"""What a report holds: JSON."""


@dataclass(frozen=True)
class Part:
    """What stands between two markers of a page.

    Attributes:
        page: The page, from the repository's root.
        marker: The name of its markers.
        reports: Names of the reports that it is made of; without one of them the part stays as it is.
        text: Makes it of the reports, in their order.
    """

    page: str
    marker: str
    reports: tuple[str, ...]
    text: Callable[..., str]

    def write(self) -> bool:
        """Writes the part anew; returns whether its reports are there."""
        found = [read_report(name) for name in self.reports]
        if any(report is None for report in found):
            return False
        page = Path(self.page)
        page.write_text(replaced(page.read_text(), self.marker, self.text(*found)))
        return True


def read_report(name: str) -> Report:
    """A report by name; None where there is none. What of an interval is not known is NaN, as JSON cannot say it."""
    path = REPORTS / f"{name}.json"
    return json.loads(path.read_text(), object_hook=_with_nan) if path.is_file() else None


def _with_nan(values: dict[str, Any]) -> dict[str, Any]:
    if values.keys() != INTERVAL:
        return values
    return {name: float("nan") if value is None else value for name, value in values.items()}


def replaced(page: str, name: str, text: str) -> str:
    """The page with the part between the markers of `name` replaced."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, after = page.split(begin)[0], page.split(end)[1]
    return f"{before}{begin}\n{text}{end}{after}"


def table(heads: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of a page."""
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def percent(share: float | None, digits: int = 1) -> str:
    """A share as a percentage, or a dash."""
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def between(low: float | None, high: float | None, sign: str = "") -> str:
    """An interval of shares in per cent; a dash where none is known."""
    return "-" if low is None or high is None else f"{100 * low:{sign}.1f}..{100 * high:{sign}.1f} %"
