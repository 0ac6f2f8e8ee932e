"""DuckDB over the segments: the views of records, workloads, features and outcomes, rebuilt whenever wanted."""

from collections.abc import Collection, Mapping
from pathlib import Path

import duckdb

from poolpilot.env.measurement.sweep import AGAIN_ROUND
from poolpilot.featurizer.record import CONTEXT_FIELDS, OUTCOME_FIELDS, TUPLE_FIELDS
from poolpilot.featurizer.schema import FEATURES, SCHEMA_VERSION
from poolpilot.pipelines.store.record_store import RecordStore
from poolpilot.pipelines.store.records import StagingStore

STORAGE_VERSION = "v1.5.0"
"""Files are written so that every DuckDB since 1.5 reads them."""

TYPES = {"int64": "BIGINT", "double": "DOUBLE", "string": "VARCHAR", "bool": "BOOLEAN"}
"""Type in DuckDB by type in the schema."""

SCALED_PREFIX = "scaled_"
"""A view's column `scaled_<feature>` is the feature as the network sees it, NULL where missing."""

KEPT_COLUMNS = tuple(field.name for field in CONTEXT_FIELDS + TUPLE_FIELDS + OUTCOME_FIELDS)
"""Columns of a record that the view passes on beside the features."""

OUTCOMES_SQL = f"""
CREATE OR REPLACE VIEW outcomes AS
WITH complete AS (SELECT DISTINCT workload_id FROM records WHERE kind = 'sweep' AND round = {AGAIN_ROUND}),
defined AS (SELECT DISTINCT workload_id, family, split FROM workloads)
SELECT workload_id, defined.family, defined.split, pool_size, oversubscribe, timer_interval_ms,
       count(*) AS windows, avg(objective) AS objective, avg(goodput_per_s) AS goodput_per_s, avg(p99_ms) AS p99_ms
FROM records JOIN complete USING (workload_id) JOIN defined USING (workload_id)
WHERE kind = 'sweep' AND round <> {AGAIN_ROUND}
GROUP BY ALL
"""
"""What each tuple of each complete sweep was worth on average; the re-measured oracle is left out. The definition of a
workload says of which split it is, as where a data set is read."""


def connect(store: StagingStore, database: Path | None = None) -> duckdb.DuckDBPyConnection:
    """Opens DuckDB with the views `records`, `workloads`, `features` and `outcomes` over the sound segments.

    The segments are the truth and the database holds views only, so a lost or stale file is simply made again;
    it sees the segments of this moment. Looking changes nothing: a torn segment is left where it is, unread.

    Args:
        store: The store to look at.
        database: File to keep the views in; in memory if None.
    """
    config: dict[str, str | bool | int | float | list[str]] = {"storage_compatibility_version": STORAGE_VERSION}
    connection = duckdb.connect(":memory:" if database is None else str(database), config=config)
    _create_view(connection, "records", store.windows)
    _create_view(connection, "workloads", store.workloads)
    connection.execute(features_view_sql("records", "features"))
    connection.execute(OUTCOMES_SQL)
    return connection


def features_view_sql(records: str = "records", view: str = "features") -> str:
    """Renders the statement that creates the view of features over records.

    Args:
        records: Name of the table or view of records.
        view: Name of the view to create or replace.

    Returns:
        A DuckDB statement; the view has `KEPT_COLUMNS`, every feature in natural units by its name, and
        every feature scaled to 0..1 as `scaled_<name>`. Rows of another schema version are left out.
    """
    kept = ", ".join(f'"{name}"' for name in KEPT_COLUMNS)
    raw = ",\n".join(f'{feature.sql()} AS "{feature.name}"' for feature in FEATURES)
    clipped = ",\n".join(f'{feature.clip_sql()} AS "{feature.name}"' for feature in FEATURES)
    scaled = ",\n".join(f'{feature.scaled_sql()} AS "{SCALED_PREFIX}{feature.name}"' for feature in FEATURES)
    return (
        f'CREATE OR REPLACE VIEW "{view}" AS\n'
        f'WITH raw AS (SELECT {kept},\n{raw}\nFROM "{records}" WHERE "schema_version" = {SCHEMA_VERSION}),\n'
        f"clipped AS (SELECT {kept},\n{clipped}\nFROM raw)\n"
        f"SELECT *,\n{scaled}\nFROM clipped"
    )


def guard(connection: duckdb.DuckDBPyConnection, store: StagingStore) -> None:
    """Leaves a connection nothing in reach but the files of a store; that cannot be taken back.

    Args:
        connection: Has the views already.
        store: What they are of.
    """
    places = ", ".join(_text(str(records.directory.resolve())) for records in (store.windows, store.workloads))
    connection.execute(f"SET allowed_directories = [{places}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET python_enable_replacements = false")  # else a name may be a variable of ours
    connection.execute("SET lock_configuration = true")


def _create_view(connection: duckdb.DuckDBPyConnection, name: str, records: RecordStore) -> None:
    paths = [str(segment.path.resolve()) for segment in records.sound]
    listed = ", ".join(map(_text, paths))
    source = (
        f"read_parquet([{listed}], union_by_name = true)" if paths else f"(SELECT {_no_columns(records)} WHERE false)"
    )
    there = {row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
    columns = ", ".join(_column(field.name, str(field.type), records.later, there) for field in records.schema)
    connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS SELECT {columns} FROM {source}')


def _column(name: str, kind: str, later: Mapping[str, str | None], there: Collection[str]) -> str:
    """A column of the schema; what older segments lack has the value that holds for all their rows.

    NaN, which data frames write for NULL, is missing as in `measures_of`: DuckDB would order it above every number.
    """
    value = later.get(name)
    constant = f"CAST({'NULL' if value is None else _text(value)} AS {TYPES[kind]})"
    if name not in there:
        return f'{constant} AS "{name}"'
    held = f"nullif(\"{name}\", 'NaN'::DOUBLE)" if kind == "double" else f'"{name}"'
    return f'{held} AS "{name}"' if value is None else f'coalesce({held}, {constant}) AS "{name}"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _no_columns(records: RecordStore) -> str:
    return ", ".join(f'CAST(NULL AS {TYPES[str(field.type)]}) AS "{field.name}"' for field in records.schema)
