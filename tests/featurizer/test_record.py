"""Records: one row holds all that restores a window."""

import json
import math
from dataclasses import replace

import pytest

from poolpilot.errors import FeatureError, StoreError
from poolpilot.featurizer.measures import MEASURE_NAMES, STATUS_COUNTERS, measures_between
from poolpilot.featurizer.record import RECORD_FIELDS, RecordContext, RecordValue, measures_of, record_row, window_of
from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.featurizer.window import Window

CONTEXT = RecordContext(
    workload_id="cpu-1",
    family="cpu",
    split="train",
    machine="two cores",
    server="native",
    workload_seed=7,
    run_id="run",
    kind="sweep",
    round=2,
    propensity=0.25,
    time_unix_s=1e9,
    steal_share=None,
    settle_s=0.5,
)
TYPES = {"int": int, "float": float, "text": str, "bool": bool}


def row_between(before: Snapshot, after: Snapshot) -> dict[str, RecordValue]:
    """The record of the window between two snapshots."""
    window, measures = Window.between(before, after), measures_between(before, after)
    return record_row(window, measures, CONTEXT, goodput_per_s=1.5, objective=0.4)


def test_a_row_has_every_field_in_order_and_of_its_kind(before: Snapshot, after: Snapshot) -> None:
    row = row_between(before, after)
    assert list(row) == [field.name for field in RECORD_FIELDS]
    for field in RECORD_FIELDS:
        value = row[field.name]
        assert type(value) is TYPES[field.kind] or (value is None and field.nullable), field.name


def test_field_names_are_unique_and_described() -> None:
    assert len({field.name for field in RECORD_FIELDS}) == len(RECORD_FIELDS)
    assert all(field.description for field in RECORD_FIELDS)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("process_cpu_us", "us"), ("think_us_p95", "us"), ("think_us_count", "1"), ("duration_s", "s"), ("cpus", "1")],
)
def test_units_of_measures(name: str, unit: str) -> None:
    assert next(field.unit for field in RECORD_FIELDS if field.name == name) == unit


def test_a_row_holds_context_and_outcome(before: Snapshot, after: Snapshot) -> None:
    row = row_between(before, after)
    assert (row["workload_id"], row["propensity"], row["pool_size"]) == ("cpu-1", 0.25, 8)
    assert (row["goodput_per_s"], row["throughput_per_s"], row["objective"]) == (1.5, 2.0, 0.4)


def test_the_window_comes_back_exactly(before: Snapshot, after: Snapshot) -> None:
    assert window_of(row_between(before, after)) == Window.between(before, after)


def test_a_window_with_missing_measures_comes_back_exactly(before: Snapshot, after: Snapshot) -> None:
    poorer = replace(after, counters={"completed": 1100.0}, histograms={})
    assert window_of(row_between(before, poorer)) == Window.between(before, poorer)


def test_a_record_older_than_the_columns_of_today_is_read(before: Snapshot, after: Snapshot) -> None:
    row = row_between(before, after)
    older = {name: value for name, value in row.items() if name not in STATUS_COUNTERS}
    read = window_of(older)
    assert read.profile == Window.between(before, after).profile
    assert list(read.indicators) == ["net_silent_wait_us_per_round"]


def test_nan_of_a_data_frame_is_missing(before: Snapshot, after: Snapshot) -> None:
    row = {**row_between(before, after), "think_us_mean": math.nan}
    assert measures_of(row)["think_us_mean"] is None
    assert tuple(measures_of(row)) == MEASURE_NAMES


def test_another_schema_version_is_refused(before: Snapshot, after: Snapshot) -> None:
    with pytest.raises(StoreError, match="schema version 99; this release reads 1"):
        window_of({**row_between(before, after), "schema_version": 99})


def test_malformed_classes_are_refused(before: Snapshot, after: Snapshot) -> None:
    classes = json.dumps({"read": {"throughput_per_s": 1.0, "latency": [[0]]}})
    with pytest.raises(FeatureError, match=r"classes\.read\.latency"):
        window_of({**row_between(before, after), "classes": classes})
