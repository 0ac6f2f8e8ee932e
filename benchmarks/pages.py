"""What all scripts that write pages share: reports in, parts of a page out."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

INTERVAL = {"mean", "low", "high"}


def read_report(path: Path) -> Any:
    """A report; None where there is no such file. What of an interval is not known is NaN, as JSON cannot say it."""
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
