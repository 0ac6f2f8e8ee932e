"""Tables of MLflow, made once and copied: all its migrations take a second of a processor and hundreds of writes."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import mlflow.store.db.utils as stores
import pytest
from sqlalchemy import Engine, create_engine


@contextmanager
def copied_tables(folder: Path) -> Iterator[None]:
    """In the block a new SQLite store of this process gets a copy of tables that are made in a folder at first use."""
    migrate: Callable[[Engine], None] = stores._initialize_tables
    made = folder / "tables.db"

    def copy(engine: Engine) -> None:
        if not made.exists():
            template = create_engine(f"sqlite:///{made}")
            migrate(template)
            template.dispose()
        with closing(sqlite3.connect(made)) as source, closing(engine.raw_connection()) as target:
            assert isinstance(target.driver_connection, sqlite3.Connection)
            source.backup(target.driver_connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stores, "_initialize_tables", copy)
        yield
