"""DuckDB over the segments: the views of records, workloads, features and outcomes, rebuilt whenever wanted."""

from pathlib import Path

import duckdb

from poolpilot.env.measurement.sweep import AGAIN_ROUND
from poolpilot.featurizer.sql import features_view_sql
from poolpilot.pipelines.store.record_store import RecordStore
from poolpilot.pipelines.store.records import StagingStore

STORAGE_VERSION = "v1.5.0"
"""Files are written so that every DuckDB since 1.5 reads them."""

OUTCOMES_SQL = f"""
CREATE OR REPLACE VIEW outcomes AS
SELECT workload_id, family, split, pool_size, oversubscribe, timer_interval_ms,
       count(*) AS windows, avg(objective) AS objective, avg(goodput_per_s) AS goodput_per_s, avg(p99_ms) AS p99_ms
FROM records
WHERE kind = 'sweep' AND round <> {AGAIN_ROUND}
GROUP BY ALL
"""
"""What each tuple of each sweep was worth on average; the re-measured oracle is left out."""


def connect(store: StagingStore, database: Path | None = None) -> duckdb.DuckDBPyConnection:
    """Opens DuckDB with the views `records`, `workloads`, `features` and `outcomes` over the sound segments.

    The segments are the truth and the database holds views only, so a lost or stale file is simply made again;
    it sees the segments of this moment.

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


def _create_view(connection: duckdb.DuckDBPyConnection, name: str, records: RecordStore) -> None:
    paths = [str(segment.path.resolve()) for segment in records.segments]
    listed = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
    source = (
        f"read_parquet([{listed}], union_by_name = true)" if paths else f"(SELECT {_no_columns(records)} WHERE false)"
    )
    connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS SELECT * FROM {source}')


def _no_columns(records: RecordStore) -> str:
    types = {"int64": "BIGINT", "double": "DOUBLE", "string": "VARCHAR", "bool": "BOOLEAN"}
    return ", ".join(f'CAST(NULL AS {types[str(field.type)]}) AS "{field.name}"' for field in records.schema)
