"""Questions to a store in SQL: one SELECT over its views, with nothing else in reach."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from poolpilot.errors import StoreError
from poolpilot.pipelines.store.records import StagingStore, holds_nothing
from poolpilot.pipelines.store.views import connect, guard

COUNT_SQL = "SELECT (SELECT count(*) FROM records) + (SELECT count(*) FROM workloads)"


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """What a question has brought.

    Attributes:
        columns: Names of the columns; two may be alike.
        rows: Rows, as many as were wanted at most.
        more: Whether there are more.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    more: bool


def ask(directory: Path, query: str, most_rows: int) -> QueryAnswer:
    """Asks a store.

    Args:
        directory: Its folder; nothing in it is changed.
        query: One SELECT over `records`, `workloads`, `features` and `outcomes`.
        most_rows: Rows to fetch at most.

    Raises:
        StoreError: The store holds nothing or cannot be read, or the query is refused; the text has DuckDB's message.
    """
    with guarded_views(directory) as views:
        found = views.execute(_one_select(views, query))
        columns = tuple(str(column[0]) for column in found.description or ())
        rows = found.fetchmany(most_rows + 1)
    return QueryAnswer(columns, rows[:most_rows], len(rows) > most_rows)


@contextmanager
def guarded_views(directory: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The views of a store for the duration of a block, with nothing else in reach.

    Args:
        directory: Its folder.

    Raises:
        StoreError: The store holds nothing or cannot be read, or DuckDB refuses what the block asks.
    """
    store = StagingStore(directory)
    try:
        with connect(store) as views:
            guard(views, store)
            (count,) = views.execute(COUNT_SQL).fetchone() or (0,)
            if not count:
                raise StoreError(holds_nothing(directory))
            yield views
    except duckdb.Error as error:
        raise StoreError(f"DuckDB cannot answer from the store {directory}: {_said(error)}") from error
    except OSError as error:
        raise StoreError(f"cannot read the store {directory}: {error.strerror}") from error


def _one_select(views: duckdb.DuckDBPyConnection, query: str) -> duckdb.Statement:
    """The statement of a query.

    Raises:
        StoreError: It is none, or something else than a SELECT, or several.
    """
    statements = views.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        given = ", ".join(statement.type.name for statement in statements) or "nothing"
        raise StoreError(f"a store is only read: ask it one SELECT; this is {given}")
    return statements[0]


def _said(error: duckdb.Error) -> str:
    """DuckDB's message on one line, without the picture of where it is."""
    return " ".join(str(error).partition("\n\nLINE ")[0].split())
