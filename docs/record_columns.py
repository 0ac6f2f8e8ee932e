"""Writes the columns of the records between the markers of docs/records.md.

Usage: python docs/record_columns.py
"""

from pathlib import Path

from poolpilot.featurizer.record import (
    CONTEXT_FIELDS,
    MEASURE_FIELDS,
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
    "What the server counted; empty where it cannot say": MEASURE_FIELDS,
}


def columns() -> str:
    """The tables of all columns."""
    return "\n".join(f"### {title}\n\n{table(fields)}" for title, fields in PARTS.items())


def table(fields: tuple[RecordField, ...]) -> str:
    """A table of columns, in the order of the file."""
    rows = [f"| `{field.name}` | {field.kind} | {field.unit} | {field.description} |" for field in fields]
    return "\n".join(["| column | kind | unit | meaning |", "|---|---|---|---|", *rows]) + "\n"


def page(text: str) -> str:
    """The page with the columns of today."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}{columns()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
