"""The SQL view and the numpy path: the same features from the same records."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from poolpilot.featurizer.measures import MEASURE_NAMES
from poolpilot.featurizer.record import RECORD_FIELDS, measures_of
from poolpilot.featurizer.schema import FEATURES, feature_names, features_of, scaled
from poolpilot.pipelines.store.views import KEPT_COLUMNS, SCALED_PREFIX, features_view_sql

ROWS = 400
ARROW_TYPES = {"int": pa.int64(), "float": pa.float64(), "text": pa.string(), "bool": pa.bool_()}
FILLING: dict[str, float | int | str | bool] = {"int": 1, "float": 1.0, "text": "{}", "bool": True}
Row = dict[str, float | int | str | bool | None]


def random_measure(generator: np.random.Generator) -> float | None:
    """A measure that is missing, zero, ordinary or far beyond any range."""
    choice = generator.random()
    if choice < 0.05:
        return None
    if choice < 0.15:
        return 0.0
    return float(10.0 ** generator.uniform(-3.0, 14.0 if choice > 0.95 else 5.0))


def random_rows() -> list[Row]:
    """Records with random measures."""
    generator = np.random.default_rng(20)
    rows = []
    for _ in range(ROWS):
        row: Row = {field.name: FILLING[field.kind] for field in RECORD_FIELDS}
        row.update({name: random_measure(generator) for name in MEASURE_NAMES})
        rows.append(row)
    return rows


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """The records of this module."""
    return random_rows()


@pytest.fixture(scope="module")
def database(rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database with the view over the records, stored as Parquet."""
    path: Path = tmp_path_factory.mktemp("records") / "records.parquet"
    schema = pa.schema([(field.name, ARROW_TYPES[field.kind]) for field in RECORD_FIELDS])
    pyarrow.parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW records AS SELECT * FROM read_parquet('{path}')")
        connection.execute(features_view_sql())
        yield connection


def column(database: duckdb.DuckDBPyConnection, name: str) -> list[float | None]:
    """A column of the view in the order of the records."""
    return [value for (value,) in database.execute(f'SELECT "{name}" FROM features').fetchall()]


@pytest.mark.parametrize("name", feature_names())
def test_natural_values_are_equal(database: duckdb.DuckDBPyConnection, rows: list[Row], name: str) -> None:
    expected = [features_of(measures_of(row))[name] for row in rows]
    seen = column(database, name)
    assert [value is None for value in seen] == [value is None for value in expected]
    present = [value for value in expected if value is not None]
    assert 0 < len(present) < ROWS
    np.testing.assert_allclose([value for value in seen if value is not None], present, rtol=1e-9, atol=1e-9)


def test_scaled_values_are_equal(database: duckdb.DuckDBPyConnection, rows: list[Row]) -> None:
    expected = np.array([scaled(features_of(measures_of(row))) for row in rows])
    columns = [column(database, f"{SCALED_PREFIX}{name}") for name in feature_names()]
    seen = np.array(columns, dtype=np.float64).T
    np.testing.assert_allclose(seen, expected, rtol=0.0, atol=1e-9)
    assert np.nanmin(seen) >= 0.0
    assert np.nanmax(seen) <= 1.0


def test_random_records_reach_both_ends_of_ranges(rows: list[Row]) -> None:
    features = [features_of(measures_of(row)) for row in rows]
    highs = {feature.name: feature.high for feature in FEATURES}
    assert any(each[name] == high for each in features for name, high in highs.items())
    assert any(each["silent_wait_us_per_round"] == 0.0 for each in features)


def test_the_view_keeps_what_identifies_a_record(database: duckdb.DuckDBPyConnection) -> None:
    names = [name for name, *_ in database.execute("DESCRIBE features").fetchall()]
    scaled_names = [f"{SCALED_PREFIX}{name}" for name in feature_names()]
    assert names == [*KEPT_COLUMNS, *feature_names(), *scaled_names]
    assert len(set(names)) == len(names)


def test_records_of_another_schema_version_are_left_out(rows: list[Row]) -> None:
    schema = pa.schema([(field.name, ARROW_TYPES[field.kind]) for field in RECORD_FIELDS])
    foreign = pa.Table.from_pylist([rows[0], {**rows[1], "schema_version": 99}], schema=schema)
    with duckdb.connect() as connection:
        connection.register("arrow_records", foreign)
        connection.execute("CREATE TABLE some_records AS SELECT * FROM arrow_records")
        connection.execute(features_view_sql("some_records", "some_features"))
        assert connection.execute("SELECT count(*) FROM some_features").fetchall() == [(1,)]
