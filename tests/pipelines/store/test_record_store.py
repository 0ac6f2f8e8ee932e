"""The store keeps every acknowledged row through kills, flipped bytes and truncation."""

import logging
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from poolpilot.errors import StoreError
from poolpilot.pipelines.store.record_store import RecordStore

SCHEMA = pa.schema([("workload_id", pa.string()), ("value", pa.float64())])

WRITER = """
import sys
from pathlib import Path
import pyarrow as pa
from poolpilot.pipelines.store.record_store import RecordStore
store = RecordStore(Path(sys.argv[1]), pa.schema([("workload_id", pa.string()), ("value", pa.float64())]))
index = int(sys.argv[2])
while True:
    store.append([{"workload_id": str(index), "value": float(row)} for row in range(500)], run_id="writer")
    print(index, flush=True)
    index += 1
"""


def rows(workload: str, count: int = 3) -> list[dict[str, object]]:
    return [{"workload_id": workload, "value": float(index)} for index in range(count)]


def stored_workloads(store: RecordStore) -> list[str]:
    return sorted(set(store.scan()["workload_id"].to_pylist()))


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    store = RecordStore(tmp_path / "store", SCHEMA)
    store.append(rows("a"), run_id="run-1")
    store.append([{"workload_id": "b"}], run_id="run-2")
    found = sorted(store.scan().to_pylist(), key=lambda row: (row["workload_id"], row["value"] or 0.0))
    assert found == [*rows("a"), {"workload_id": "b", "value": None}]
    assert {segment.path.name.rsplit("-", 1)[0] for segment in store.segments} == {"run-1", "run-2"}


def test_an_empty_store_reads_as_no_rows(tmp_path: Path) -> None:
    store = RecordStore(tmp_path / "none", SCHEMA)
    assert store.scan().num_rows == 0
    assert store.scan().schema == SCHEMA
    assert store.segments == ()
    assert store.torn == ()


def test_the_digest_names_the_data_whatever_the_order_of_writing(tmp_path: Path) -> None:
    stores = [RecordStore(tmp_path / name, SCHEMA) for name in ("one", "two")]
    for store, order in zip(stores, (("a", "b"), ("b", "a")), strict=True):
        for workload in order:
            store.append(rows(workload), run_id="run")
    assert stores[0].digest == stores[1].digest
    before = stores[0].digest
    stores[0].append(rows("c"), run_id="run")
    assert stores[0].digest != before


def test_writing_the_same_rows_again_changes_nothing(tmp_path: Path) -> None:
    store = RecordStore(tmp_path, SCHEMA)
    first = store.append(rows("a"), run_id="run")
    assert store.append(rows("a"), run_id="run") == first
    assert store.scan().num_rows == 3


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "rename"])
def test_a_torn_segment_is_set_aside_and_named(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    store = RecordStore(tmp_path, SCHEMA)
    torn = store.append(rows("torn"), run_id="run").path
    store.append(rows("sound"), run_id="run")
    content = torn.read_bytes()
    if damage == "flip":
        torn.write_bytes(content[:-40] + bytes([content[-40] ^ 1]) + content[-39:])
    elif damage == "truncate":
        torn.write_bytes(content[: len(content) // 2])
    elif damage == "empty":
        torn.write_bytes(b"")
    else:
        torn = torn.rename(tmp_path / "run-0123.parquet")
    with caplog.at_level(logging.WARNING):
        assert stored_workloads(store) == ["sound"]
    assert torn.name in caplog.text
    assert store.torn == (torn.name,)
    assert not torn.exists()
    assert torn.with_name(torn.name + ".torn").exists()
    assert RecordStore(tmp_path, SCHEMA).torn == (torn.name,)


def test_every_single_flipped_byte_is_found(tmp_path: Path) -> None:
    written = RecordStore(tmp_path / "store", SCHEMA).append(rows("a"), run_id="run").path
    content = written.read_bytes()
    for position in range(0, len(content), 17):
        place = tmp_path / str(position)
        place.mkdir()
        flipped = bytearray(content)
        flipped[position] ^= 0x10
        (place / written.name).write_bytes(bytes(flipped))
        store = RecordStore(place, SCHEMA)
        assert store.segments == ()
        assert store.torn == (written.name,)


def test_bad_rows_are_refused_in_a_sentence(tmp_path: Path) -> None:
    store = RecordStore(tmp_path, SCHEMA)
    with pytest.raises(StoreError, match="at least one row"):
        store.append([], run_id="run")
    with pytest.raises(StoreError, match="no column 'wrong'"):
        store.append([{"wrong": 1}], run_id="run")
    with pytest.raises(StoreError, match="does not fit the record schema"):
        store.append([{"workload_id": "a", "value": "fast"}], run_id="run")
    with pytest.raises(StoreError, match="run id"):
        store.append(rows("a"), run_id="../run")
    assert store.segments == ()


def test_a_segment_with_other_columns_is_refused(tmp_path: Path) -> None:
    RecordStore(tmp_path, SCHEMA).append(rows("a"), run_id="run")
    other = RecordStore(tmp_path, SCHEMA.append(pa.field("colour", pa.string())))
    with pytest.raises(StoreError, match="'colour'"):
        other.scan()


def test_a_later_column_has_its_value_in_older_segments(tmp_path: Path) -> None:
    RecordStore(tmp_path, SCHEMA).append(rows("a"), run_id="old")
    newer = RecordStore(tmp_path, SCHEMA.append(pa.field("colour", pa.string())), later={"colour": "grey"})
    newer.append([{**row, "colour": "red"} for row in rows("b")], run_id="new")
    found = {row["workload_id"]: row["colour"] for row in newer.scan().to_pylist()}
    assert found == {"a": "grey", "b": "red"}


def test_a_later_column_may_be_null_in_older_segments(tmp_path: Path) -> None:
    RecordStore(tmp_path, SCHEMA).append(rows("a"), run_id="old")
    newer = RecordStore(tmp_path, SCHEMA.append(pa.field("weight_kg", pa.float64())), later={"weight_kg": None})
    newer.append([{**row, "weight_kg": 2.5} for row in rows("b")], run_id="new")
    found = {row["workload_id"]: row["weight_kg"] for row in newer.scan().to_pylist()}
    assert found == {"a": None, "b": 2.5}


def test_a_disk_that_refuses_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot write a segment"):
        RecordStore(tmp_path / "file", SCHEMA).append(rows("a"), run_id="run")


def test_no_acknowledged_row_is_lost_when_writers_are_killed(tmp_path: Path) -> None:
    chance = random.Random(7)
    acknowledged: list[str] = []
    for round_ in range(6):
        command = [sys.executable, "-c", WRITER, str(tmp_path / "store"), str(round_ * 1000)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as writer:
            assert writer.stdout is not None
            acknowledged.append(writer.stdout.readline().strip())
            time.sleep(chance.uniform(0.0, 0.05))
            writer.send_signal(signal.SIGKILL)
            acknowledged += writer.stdout.read().split()
    store = RecordStore(tmp_path / "store", SCHEMA)
    found = store.scan()
    assert set(acknowledged) <= set(found["workload_id"].to_pylist())
    assert found.num_rows == 500 * len(store.segments)
    assert store.torn == ()
