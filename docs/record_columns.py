"""Writes the columns of the records between the markers of docs/records.md.

Usage: python docs/record_columns.py
"""

from collections.abc import Iterator
from pathlib import Path

from poolpilot.featurizer.measures import CORE_COUNTERS, GAUGES, HISTOGRAMS, RICH_COUNTERS, STATISTICS, STATUS_COUNTERS
from poolpilot.featurizer.record import (
    CONTEXT_FIELDS,
    OUTCOME_FIELDS,
    TUPLE_FIELDS,
    RecordField,
)

PAGE = Path(__file__).with_name("records.md")
BEGIN, END = "<!-- columns: begin -->\n", "<!-- columns: end -->\n"
PARTS = {
    "What was measured, where and why": CONTEXT_FIELDS,
    "The configuration in force": TUPLE_FIELDS,
    "What came of it": OUTCOME_FIELDS,
}
MEASURED = {
    "seconds that the window lasted": ("duration_s",),
    "counters that every server gives: their rise": CORE_COUNTERS,
    "counters of servers that can give more": RICH_COUNTERS,
    "counters that a MariaDB shows beside its pool": STATUS_COUNTERS,
    "numbers at the end of the window": GAUGES,
    f"histograms; each is the columns `NAME_{STATISTICS[0]}`, "
    + ", ".join(f"`_{statistic}`" for statistic in STATISTICS[1:]): HISTOGRAMS,
}
"""What the server counted: columns alike in a row."""


def columns() -> str:
    """The tables of all columns."""
    parts = [f"### {title}\n\n{table(fields)}" for title, fields in PARTS.items()]
    return "\n".join([*parts, f"### What the server counted\n\n{''.join(measured())}"])


def table(fields: tuple[RecordField, ...]) -> str:
    """A table of columns, in the order of the file."""
    rows = [f"| `{field.name}` | {field.kind} | {field.unit} | {field.description} |" for field in fields]
    return "\n".join(["| column | kind | unit | meaning |", "|---|---|---|---|", *rows]) + "\n"


def measured() -> Iterator[str]:
    """The table of the measures, a row for those alike."""
    yield "All are floats, and null where the server cannot say. Names that end in `_us` are in microseconds.\n\n"
    yield "| columns | meaning |\n|---|---|\n"
    for meaning, names in MEASURED.items():
        yield f"| {', '.join(f'`{name}`' for name in names)} | {meaning} |\n"


def page(text: str) -> str:
    """The page with the columns of today."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{columns()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
