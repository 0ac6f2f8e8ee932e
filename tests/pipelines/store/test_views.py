"""The views show what the segments hold, in memory or in a file that can be thrown away."""

import hashlib
import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.featurizer.measures import STATUS_COUNTERS
from poolpilot.featurizer.record import OLDER_TIMER, window_of
from poolpilot.featurizer.schema import feature_names
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.store.dataset import checked_window, read_dataset
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.store.views import connect


@pytest.fixture
def store(
    collect_settings: Callable[..., CollectSettings], planned: list[PlannedWorkload], staging: Staging
) -> StagingStore:
    """A store with one workload."""
    collect(collect_settings(), planned[:1], staging, Console(file=io.StringIO()))
    return StagingStore(collect_settings().store)


def rewritten(store: StagingStore, rows: list[dict[str, Any]], folder: Path) -> StagingStore:
    """A store of the same workloads with other windows."""
    other = StagingStore(folder)
    other.workloads.append(list(store.workload_rows().values()), "run")
    other.windows.append(rows, "run")
    return other


def test_features_by_sql_are_those_of_the_windows(store: StagingStore) -> None:
    rows = store.window_rows()
    query = "SELECT utilisation, completed_per_s, queue_wait_us_mean FROM features ORDER BY time_unix_s"
    for row, found in zip(rows, connect(store).sql(query).fetchall(), strict=True):
        features = window_of(row).profile.features
        assert found[0] == pytest.approx(features["utilisation"])
        assert found[1] == pytest.approx(features["completed_per_s"])
        assert found[2] is None


@pytest.mark.parametrize("name", ["native", "mariadb"])
def test_features_by_sql_are_those_that_training_reads(name: str) -> None:
    directory, names = Path("pipelines") / name, feature_names()
    rows = StagingStore(directory).window_rows()
    query = f"SELECT {', '.join(names)} FROM features ORDER BY time_unix_s, workload_id"
    by_sql = np.array(connect(StagingStore(directory)).execute(query).fetchall(), dtype=np.float64)
    in_order = sorted(rows, key=lambda row: (row["time_unix_s"], row["workload_id"]))
    windows = [checked_window(row) for row in in_order]  # as `read_dataset` reads them
    read = np.array([[window.profile.features[each] for each in names] for window in windows], dtype=np.float64)
    np.testing.assert_allclose(by_sql, read, rtol=1e-9, atol=1e-9)


def test_nan_is_missing_in_every_view_as_in_python(store: StagingStore, tmp_path: Path) -> None:
    """Before, DuckDB took it for the largest value: a feature of it stood at the upper end of its range."""
    measures = ("process_cpu_us", "completed")
    rows = [dict(row) for row in store.window_rows()]
    assert all(rows[3][name] is not None for name in measures)
    rows[3].update(dict.fromkeys((*measures, "p99_ms", "objective"), math.nan))
    views = connect(rewritten(store, rows, tmp_path / "rewritten"))

    counted = views.execute(f"SELECT count(*), {', '.join(f'count({name})' for name in measures)} FROM records")
    assert counted.fetchall() == [(len(rows), len(rows) - 1, len(rows) - 1)]
    for view in ("records", "features", "outcomes"):
        found = views.execute(f"SELECT count(*) FROM {view} WHERE isnan(p99_ms) OR isnan(objective)")
        assert found.fetchall() == [(0,)], view
    names = feature_names()
    by_sql = views.execute(f"SELECT {', '.join(names)} FROM features ORDER BY time_unix_s").fetchall()
    read = [window_of(row).profile.features for row in rows]
    assert read[3]["utilisation"] is None
    assert [[value is None for value in found] for found in by_sql] == [
        [features[name] is None for name in names] for features in read
    ]


def test_segments_of_before_and_after_a_column_came_are_seen_together(store: StagingStore) -> None:
    digest, rows = read_dataset(store.directory, "train").digest, store.window_rows()
    (segment, *others) = store.windows.segments
    older = pq.ParquetFile(segment.path).read().drop_columns(list(STATUS_COUNTERS))
    sink = io.BytesIO()
    pq.write_table(older, sink)
    segment.path.unlink()
    name = hashlib.sha256(sink.getvalue()).hexdigest()[:32]
    segment.path.with_name(f"older-{name}.parquet").write_bytes(sink.getvalue())
    assert others
    assert store.window_rows() == rows
    assert read_dataset(store.directory, "train").digest == digest
    found = connect(store).sql("SELECT count(*), count(reported_net) FROM records").fetchall()
    assert found == [(len(rows), 0)]


def test_store_whose_segments_all_lack_a_later_column_has_the_value_that_holds_for_them() -> None:
    found = connect(StagingStore(Path("pipelines/mariadb")))
    assert found.sql("SELECT DISTINCT timer FROM features").fetchall() == [(OLDER_TIMER,)]
    assert len(found.sql("SELECT workload_id FROM outcomes").fetchall()) > 100


@pytest.mark.parametrize("split", ["train", "validation"])
def test_outcomes_are_of_the_same_workloads_as_a_data_set(split: Any) -> None:
    directory = Path("pipelines/mariadb")
    query = "SELECT DISTINCT workload_id FROM outcomes WHERE split = $split"
    found = connect(StagingStore(directory)).execute(query, {"split": split}).fetchall()
    assert {name for (name,) in found} == {sweep.workload_id for sweep in read_dataset(directory, split).sweeps}


def test_outcomes_are_the_values_of_the_sweep(store: StagingStore) -> None:
    (sweep,) = read_dataset(store.directory, "train").sweeps
    query = "SELECT pool_size, oversubscribe, timer_interval_ms, windows, objective FROM outcomes"
    found = {tuple(row[:3]): row[3:] for row in connect(store).sql(query).fetchall()}
    assert set(found) == set(sweep.entries)
    for core, (windows, objective) in found.items():
        assert windows == len(sweep.entries[core].windows)
        assert objective == pytest.approx(sweep.entries[core].value)


def test_the_views_of_an_empty_store_are_empty(tmp_path: Path) -> None:
    connection = connect(StagingStore(tmp_path))
    for view in ("records", "workloads", "features", "outcomes"):
        assert connection.sql(f"SELECT count(*) FROM {view}").fetchall() == [(0,)]


def test_a_database_file_can_be_thrown_away(store: StagingStore, tmp_path: Path) -> None:
    database = tmp_path / "it's views.duckdb"
    counts = []
    for again in (False, True, True):
        if again:
            database.unlink(missing_ok=True)
        with connect(store, database) as connection:
            counts.append(connection.sql("SELECT count(*) FROM records").fetchall())
    with connect(store, database) as connection:
        counts.append(connection.sql("SELECT count(*) FROM records").fetchall())
    assert counts == [[(46,)]] * 4
