"""A question in SQL sees the views of a store, changes nothing, and has nothing else in reach."""

import math
import shutil
from pathlib import Path

import pytest

from poolpilot.errors import StoreError
from poolpilot.pipelines.store.inspection.record_query import ask
from poolpilot.pipelines.store.records import StagingStore


@pytest.fixture
def store(recorded_store: Path, tmp_path: Path) -> Path:
    """A store of one's own."""
    return Path(shutil.copytree(recorded_store, tmp_path / "store"))


def test_the_views_answer(recorded_store: Path) -> None:
    query = "SELECT split, count(DISTINCT family) AS families FROM workloads GROUP BY split ORDER BY split"
    answer = ask(recorded_store, query, 50)
    assert answer.columns == ("split", "families")
    assert answer.rows == [("test", 2), ("train", 2), ("validation", 1)]
    assert not answer.more
    for view in ("records", "features", "outcomes"):
        ((count,),) = ask(recorded_store, f"SELECT count(*) FROM {view}", 1).rows
        assert count > 0


def test_nan_is_missing_in_an_answer(recorded_store: Path, tmp_path: Path) -> None:
    whole = StagingStore(recorded_store)
    rows = [dict(row) for row in whole.window_rows()]
    rows[0]["process_cpu_us"] = math.nan
    store = StagingStore(tmp_path / "store")
    store.workloads.append(list(whole.workload_rows().values()), "run")
    store.windows.append(rows, "run")
    largest = max(row["process_cpu_us"] for row in rows[1:])
    query = "SELECT max(process_cpu_us), count(*) - count(process_cpu_us) FROM records"
    assert ask(store.directory, query, 1).rows == [(largest, 1)]


@pytest.mark.parametrize(("most_rows", "fetched", "more"), [(1, 1, True), (4, 4, True), (5, 5, False), (6, 5, False)])
def test_no_more_rows_are_fetched_than_wanted(recorded_store: Path, most_rows: int, fetched: int, more: bool) -> None:
    answer = ask(recorded_store, "SELECT DISTINCT family FROM workloads", most_rows)
    assert (len(answer.rows), answer.more) == (fetched, more)


@pytest.mark.parametrize("query", ["DESCRIBE features", "FROM outcomes", "WITH few AS (FROM workloads) FROM few"])
def test_other_ways_to_look_are_selects_too(recorded_store: Path, query: str) -> None:
    assert ask(recorded_store, query, 5).rows


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("COPY workloads TO 'copy.parquet'", "COPY"),
        ("EXPLAIN ANALYZE COPY workloads TO 'copy.parquet'", "EXPLAIN"),
        ("ATTACH 'other.duckdb'", "ATTACH"),
        ("INSTALL httpfs", "LOAD"),
        ("CREATE TABLE kept AS FROM workloads", "CREATE"),
        ("DROP VIEW records", "DROP"),
        ("SET enable_external_access = true", "SET"),
        ("SELECT 1; SELECT 2", "SELECT, SELECT"),
        ("", "nothing"),
    ],
)
def test_all_else_is_refused(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, query: str, given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=f"ask it one SELECT; this is {given}$"):
        ask(store, query, 50)
    assert list(tmp_path.iterdir()) == [store]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_text('{secret}')",
        "SELECT * FROM '{parquet}'",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM read_csv('https://127.0.0.1:1/rows.csv')",
    ],
)
def test_no_file_beside_the_store_can_be_read(store: Path, tmp_path: Path, query: str) -> None:
    secret, parquet = tmp_path / "secret.txt", tmp_path / "other.parquet"
    secret.write_text("password", encoding="utf-8")
    shutil.copy(StagingStore(store).workloads.sound[0].path, parquet)
    with pytest.raises(StoreError, match="DuckDB cannot answer") as refused:
        ask(store, query.format(secret=secret, parquet=parquet, folder=tmp_path), 50)
    assert "\n" not in str(refused.value)


def test_a_name_is_no_variable_of_the_program(recorded_store: Path) -> None:
    with pytest.raises(StoreError, match="Table with name directory does not exist"):
        ask(recorded_store, "SELECT * FROM directory", 50)


def test_a_mistake_is_one_sentence_with_what_duckdb_says(recorded_store: Path) -> None:
    with pytest.raises(StoreError, match='Binder Error: Referenced column "famly" not found') as refused:
        ask(recorded_store, "SELECT famly FROM workloads", 50)
    assert "\n" not in str(refused.value)
    with pytest.raises(StoreError, match="Parser Error: syntax error"):
        ask(recorded_store, "SELEC 1", 50)


@pytest.mark.parametrize("folder", [".", "nowhere"])
def test_a_folder_without_records_is_a_sentence(tmp_path: Path, folder: str) -> None:
    with pytest.raises(StoreError, match="holds no workloads; collect some"):
        ask(tmp_path / folder, "SELECT 1", 50)


def test_a_damaged_segment_is_left_out_and_left_where_it_is(store: Path) -> None:
    (whole,) = ask(store, "SELECT count(*) FROM records", 1).rows
    segment = StagingStore(store).windows.sound[0].path
    segment.write_bytes(segment.read_bytes()[:-1])
    before = sorted(store.rglob("*"))
    (rest,) = ask(store, "SELECT count(*) FROM records", 1).rows
    assert rest < whole
    assert sorted(store.rglob("*")) == before
