"""The summary of a store says of every family what was measured, and how well."""

import math
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.pipelines.conftest import GRID, SPLITS

from poolpilot.env.measurement.sweep import AGAIN_ROUND
from poolpilot.errors import StoreError
from poolpilot.featurizer.record import OLDER_TIMER, TIMER
from poolpilot.pipelines.collect.workload_run import core_of
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.inspection.record_summary import FamilySummary, StoreSummary
from poolpilot.pipelines.store.records import StagingStore


def test_every_family_stands_there_with_its_split_those_to_learn_from_first(recorded_store: Path) -> None:
    summary = StoreSummary.of(recorded_store)
    assert {one.family: one.split for one in summary.families} == SPLITS
    assert [one.split for one in summary.families] == ["train", "train", "validation", "test", "test"]
    for one in summary.families:
        assert (one.cpus, one.workloads, one.complete, one.coverage) == ((2,), 3, 3, 1.0)
        assert one.tuples == 3 * len(GRID)
    rows = StagingStore(recorded_store).window_rows()
    assert sum(one.windows for one in summary.families) == sum(summary.kinds.values()) == len(rows)
    assert set(summary.kinds) == {"sweep", "random", "climb"}
    assert (summary.servers, summary.timers, summary.unread) == (("native",), (TIMER,), 0)
    assert (summary.first_unix_s, summary.last_unix_s) == (rows[0]["time_unix_s"], rows[-1]["time_unix_s"])


def test_noise_is_that_of_the_sweeps() -> None:
    store = Path("pipelines/mariadb")
    summary = StoreSummary.of(store)
    assert (sum(one.workloads for one in summary.families), summary.timers) == (85, (OLDER_TIMER,))
    sweeps = read_dataset(store, "validation").sweeps
    rows = [row for row in StagingStore(store).window_rows() if row["kind"] == "sweep"]
    for family in {sweep.family for sweep in sweeps}:
        (found,) = [one for one in summary.families if one.family == family]
        of_family = [sweep for sweep in sweeps if sweep.family == family]
        errors = [
            np.std(entry.values, ddof=1) / np.sqrt(len(entry.values))
            for sweep in of_family
            for entry in sweep.entries.values()
            if len(entry.values) > 1
        ]
        assert found.error == pytest.approx(float(np.median(errors)))
        squares, freedom = 0.0, 0
        for sweep in of_family:
            core = sweep.limits.default_tuple().core
            values = [
                row["objective"]
                for row in rows
                if row["workload_id"] == sweep.workload_id
                and (row["pool_size"], row["oversubscribe"], row["timer_interval_ms"]) == core
            ]
            squares += float(np.square(values - np.mean(values)).sum())
            freedom += len(values) - 1
        assert found.default_noise == (pytest.approx(np.sqrt(squares / freedom)) if freedom else None)


def test_what_is_not_finished_or_measured_once_is_seen(recorded_store: Path, tmp_path: Path) -> None:
    whole = StagingStore(recorded_store)
    begun = [dict(row) for row in whole.window_rows() if row["kind"] == "sweep" and row["round"] == 0]
    assert AGAIN_ROUND not in {row["round"] for row in begun}
    kept = [row for row in begun if row["pool_size"] <= 4]
    store = StagingStore(tmp_path)
    store.workloads.append(list(whole.workload_rows().values()), "run")
    store.windows.append(kept, "run")
    for one in StoreSummary.of(tmp_path).families:
        assert (one.workloads, one.complete, one.coverage) == (3, 0, 0.5)
        assert (one.default_noise, one.error) == (None, None)


def test_window_without_a_j_tells_nothing_of_noise(recorded_store: Path, tmp_path: Path) -> None:
    """Before, NaN was a number to DuckDB, which refuses to tell how far it is from others."""
    whole = StagingStore(recorded_store)
    (definition,) = [row for name, row in whole.workload_rows().items() if name == "small-1"]
    rows = [dict(row) for row in whole.window_rows(["small-1"]) if row["kind"] == "sweep"]
    core, _ = Counter(core_of(row) for row in rows if row["round"] != AGAIN_ROUND).most_common(1)[0]
    place = next(number for number, row in enumerate(rows) if core_of(row) == core)
    stores = {"without": rows[:place] + rows[place + 1 :], "nan": [dict(row) for row in rows]}
    stores["nan"][place]["objective"] = math.nan
    found: dict[str, FamilySummary] = {}
    for name, windows in stores.items():
        store = StagingStore(tmp_path / name)
        store.workloads.append([definition], "run")
        store.windows.append(windows, "run")
        (found[name],) = StoreSummary.of(store.directory).families
    assert found["nan"].coverage == found["without"].coverage == 1.0
    assert found["nan"].error is not None
    assert found["nan"].error == pytest.approx(found["without"].error)
    assert found["nan"].default_noise == pytest.approx(found["without"].default_noise)


def test_damaged_segments_are_counted_and_left_where_they_are(recorded_store: Path, tmp_path: Path) -> None:
    store = shutil.copytree(recorded_store, tmp_path / "store")
    segment = StagingStore(store).windows.sound[0].path
    segment.write_bytes(segment.read_bytes()[:-1])
    before = sorted(store.rglob("*"))
    assert StoreSummary.of(store).unread == 1
    assert sorted(store.rglob("*")) == before


def test_a_definition_that_cannot_be_read_is_a_sentence(recorded_store: Path, tmp_path: Path) -> None:
    (first, *_) = StagingStore(recorded_store).workload_rows().values()
    StagingStore(tmp_path).workloads.append([{**first, "limits": "{}"}], "run")
    with pytest.raises(StoreError, match=r"the definition of workload .* cannot be read .*records --check"):
        StoreSummary.of(tmp_path)


def test_a_folder_without_records_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no workloads; collect some"):
        StoreSummary.of(tmp_path)
