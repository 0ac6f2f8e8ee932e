"""`poolpilot records --sql`: a question to records in SQL."""

from math import isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.table import Table
from rich.text import Text

from poolpilot.env.output import terminal, write_json
from poolpilot.env.program_settings import ProgramSettings

if TYPE_CHECKING:
    from poolpilot.pipelines.store.inspection.record_query import QueryAnswer

COLUMNS_SHOWN = 16
"""Columns that a table shows; the JSON file has all."""


class RecordsSqlSettings(ProgramSettings):
    """Settings of `poolpilot records --sql`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_RECORDS_SQL_")

    folder: Path = Field(description="Folder of a record store.")
    query: str = Field(description="One SELECT, in quotes.")
    limit: int = Field(default=50, ge=1, description="Rows that are shown and written at most.")


def sql(settings: RecordsSqlSettings, json_path: Path | None) -> None:
    """Asks a store and shows what it answers.

    Raises:
        SettingError: The file to write is wrong.
        StoreError: The store holds nothing or cannot be read, or the query is refused.
    """
    from poolpilot.pipelines.store.inspection.record_query import ask

    console = terminal()
    answer = ask(settings.folder, settings.query, settings.limit)
    console.print(answer_table(answer))
    if len(answer.columns) > COLUMNS_SHOWN:
        left_out = len(answer.columns) - COLUMNS_SHOWN
        console.print(f"{left_out} more columns: name those that you want, or write all with --json.", soft_wrap=True)
    if answer.more:
        console.print(f"There are more than {settings.limit} rows: --limit shows more.", soft_wrap=True)
    write_json(json_path, answer_summary(answer))


def answer_table(answer: "QueryAnswer") -> Table:
    """An answer as people read it."""
    table = Table()
    for name in answer.columns[:COLUMNS_SHOWN]:
        table.add_column(Text(name), overflow="fold")
    for row in answer.rows:
        table.add_row(*(_cell(value) for value in row[:COLUMNS_SHOWN]))
    return table


def answer_summary(answer: "QueryAnswer") -> dict[str, Any]:
    """An answer for a program."""
    return {"columns": list(answer.columns), "rows": [_plain(row) for row in answer.rows], "more": answer.more}


def _cell(value: Any) -> Text:
    if value is None:
        return Text("-")
    return Text(f"{value:.6g}" if isinstance(value, float) else str(value))


def _plain(value: Any) -> Any:
    """A value as JSON has it; what JSON does not know becomes text, infinity too: null is NULL or NaN."""
    if isinstance(value, dict):
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and isinf(value):
        return str(value)  # inf or -inf, which float() of Python reads
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
