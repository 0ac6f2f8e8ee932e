"""Every fault that makes records unfit to learn from is found where it was planted, named, and refused by training."""

import hashlib
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from poolpilot.env.action_grid import LARGE_GRID
from poolpilot.env.measurement.sweep import AGAIN_ROUND
from poolpilot.errors import ArtefactError, StoreError
from poolpilot.featurizer.record import OLDER_TIMER, TIMER
from poolpilot.models.champion import champion_folder
from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.pipelines.calibrate.calibrate import CalibrateSettings, calibrate
from poolpilot.pipelines.evaluate.evaluate import EvaluateSettings, evaluate
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.fault import Fault
from poolpilot.pipelines.store.record_check import CheckedStore, RecordCheck
from poolpilot.pipelines.store.recorded_curves import recorded_curves
from poolpilot.pipelines.store.records import StagingStore
from poolpilot.pipelines.train.promote import PromoteSettings, promote
from poolpilot.pipelines.train.train import checked_stores, train
from poolpilot.pipelines.train.train_settings import TrainSettings

SHIPPED = Path(__file__).parents[3] / "pipelines"

Rows = list[dict[str, Any]]
Plant = Callable[[Rows, Rows], None]


def nothing(_: Rows, __: Rows) -> None:
    """Leaves the records sound."""


@pytest.fixture
def planted(recorded_store: Path, tmp_path: Path) -> Callable[..., Path]:
    """Copies the records into a new store, after a change of the workloads and the windows."""

    def plant(change: Plant = nothing, name: str = "planted") -> Path:
        whole = StagingStore(recorded_store)
        workloads: Rows = [dict(row) for row in whole.workload_rows().values()]
        windows: Rows = [dict(row) for row in whole.window_rows()]
        change(workloads, windows)
        store = StagingStore(tmp_path / name)
        store.workloads.append(workloads, "run")
        store.windows.append(windows, "run")
        return store.directory

    return plant


def faults_in(*folders: Path) -> list[Fault]:
    return list(RecordCheck.of([CheckedStore(folder) for folder in folders]).faults)


def of_workload(rows: Rows, name: str) -> Rows:
    return [row for row in rows if row["workload_id"] == name]


def one_definition(workloads: Rows, name: str = "small-1") -> dict[str, Any]:
    (row,) = of_workload(workloads, name)
    return row


def other_version(_: Rows, windows: Rows) -> None:
    windows[7]["schema_version"] += 1


def unknown_timer(_: Rows, windows: Rows) -> None:
    windows[7]["timer"] = "sundial"


def undefined_workload(workloads: Rows, _: Rows) -> None:
    workloads.remove(one_definition(workloads))


def other_family(_: Rows, windows: Rows) -> None:
    for row in of_workload(windows, "small-1"):
        row["family"] = "large"


def second_definition(workloads: Rows, _: Rows) -> None:
    workloads.append({**one_definition(workloads), "objective": "{}"})


def second_grid(workloads: Rows, _: Rows) -> None:
    one_definition(workloads)["ladder"] = json.dumps(LARGE_GRID.as_dict(), sort_keys=True)


def repeated(_: Rows, windows: Rows) -> None:
    windows.append(dict(windows[3]))


def without_default(_: Rows, windows: Rows) -> None:
    kept = [row for row in windows if row["workload_id"] != "small-1" or row["pool_size"] > 2 or row["kind"] != "sweep"]
    windows[:] = kept


def family_in_two_splits(workloads: Rows, windows: Rows) -> None:
    for row in [one_definition(workloads), *of_workload(windows, "small-1")]:
        row["split"] = "test"


def leaked_composition(workloads: Rows, _: Rows) -> None:
    row = one_definition(workloads, "unseen-0")
    held_out = json.loads(row["workload"])
    held_out["classes"] = json.loads(one_definition(workloads, "large-0")["workload"])["classes"]
    row["workload"] = json.dumps(held_out, sort_keys=True)


def mixed_timers(_: Rows, windows: Rows) -> None:
    for row in of_workload(windows, "small-1"):
        row["timer"] = OLDER_TIMER


def not_a_number(_: Rows, windows: Rows) -> None:
    windows[5]["goodput_per_s"] = float("nan")


def infinite(_: Rows, windows: Rows) -> None:
    windows[5]["p99_ms"] = float("inf")


def infinite_in_classes(_: Rows, windows: Rows) -> None:
    windows[5]["classes"] = '{"all": {"throughput_per_s": Infinity}}'


PLANTED: dict[Plant, tuple[str, str]] = {
    other_version: ("schema", r"windows/run-\w+\.parquet, row 7 .*: measured under version .* of the feature schema"),
    unknown_timer: ("schema", r"row 7 .*: names the timer 'sundial'; there are 'restarted' and 'free'"),
    other_family: ("schema", r"\(workload 'small-1'\): of the family 'large', its workload of 'small'"),
    second_definition: ("schema", r"workloads/run-\w+\.parquet, row 15: a second definition of workload 'small-1'"),
    second_grid: ("schema", r"planted mixes 2 grids of configurations"),
    repeated: ("duplicate", r"row \d+ \(workload '.*'\) repeats segment .*, row \d+: no single row can be removed"),
    without_default: ("no_default", r"the sweep of workload 'small-1' in .*planted has no default: of \(2, 3, 500\)"),
    family_in_two_splits: ("leak", r"family 'small' is in the splits 'test' and 'train'"),
    leaked_composition: ("leak", r"the held-out family 'unseen' in .*planted has the composition 'silent' .* large: "),
    mixed_timers: ("timer", r"records of different timers of the pool cannot be mixed: free .* and restarted"),
    not_a_number: (
        "non_finite",
        r"row 5 \(workload '.*'\): no finite number in goodput_per_s; no single row can be",
    ),
    infinite: ("non_finite", r"row 5 \(workload '.*'\): no finite number in p99_ms"),
    infinite_in_classes: ("non_finite", r"row 5 \(workload '.*'\): no finite number in classes"),
}


def test_sound_records_have_no_fault(planted: Callable[..., Path]) -> None:
    assert faults_in(planted()) == []


@pytest.mark.parametrize(
    ("folder", "says", "refused"),
    [("records", {"leak", "timer"}, {"timer"}), ("mariadb", {"schema"}, set()), ("native", {"leak"}, set())],
)
def test_shipped_records_are_fit_to_learn_from_but_for_the_older_timer_and_what_is_to_know_is_said(
    folder: str, says: set[str], refused: set[str]
) -> None:
    faults = faults_in(SHIPPED / folder)
    assert {fault.kind for fault in faults if fault.refused} == refused
    assert {fault.kind for fault in faults} == says


@pytest.mark.parametrize("folder", ["records", "native"])
def test_shipped_records_of_both_servers_do_not_leak_into_one_another_whatever_the_timer_of_ours(folder: str) -> None:
    stores = [CheckedStore(SHIPPED / folder), CheckedStore(SHIPPED / "mariadb")]
    assert not any(fault.refused for fault in RecordCheck.of(stores, older_timer=True).faults)


def test_shipped_records_of_both_timers_are_not_learned_from_together() -> None:
    refused = [fault for fault in faults_in(SHIPPED / "records", SHIPPED / "native") if fault.refused]
    assert {fault.kind for fault in refused} == {"timer"}


@pytest.mark.parametrize("change", PLANTED, ids=lambda change: change.__name__)
def test_fault_is_found_and_named_and_training_refuses_with_the_same_sentence(
    planted: Callable[..., Path], change: Plant, tmp_path: Path
) -> None:
    folder = planted(change)
    kind, sentence = PLANTED[change]
    faults = faults_in(folder)
    (fault,) = [fault for fault in faults if fault.refused]
    assert fault.kind == kind
    with pytest.raises(StoreError, match=sentence):
        raise StoreError(faults[0].sentence)
    settings = TrainSettings.load(None, {"store": folder, "output": tmp_path / "model"})
    with pytest.raises(StoreError) as refused:
        train(settings)
    assert fault.sentence in str(refused.value)
    assert str(refused.value).endswith(f"is shown by: poolpilot records --check {folder}")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("change", [not_a_number, repeated])
def test_what_is_to_be_done_about_a_row_can_be_done(
    planted: Callable[..., Path], change: Plant, tmp_path: Path
) -> None:
    """Before, the row was to be removed: its segment would have been damaged by the digest in its name."""
    folder = planted(change)
    (fault,) = faults_in(folder)
    store = StagingStore(folder)
    loses = f"remove the file, which loses its {store.windows.scan().num_rows} windows"
    assert f"{loses} until poolpilot learn collect --store {folder} measures anew what is missing" in fault.sentence
    given = f"StagingStore(Path({str(folder)!r})).merged_into(Path('NEW'), but={{{fault.subject!r}}})"
    assert fault.sentence.endswith(f"or leave the workload out of a copy: {given}")
    copy = store.merged_into(tmp_path / "copy", but={fault.subject})
    assert faults_in(copy.directory) == []
    assert {row["workload_id"] for row in copy.window_rows()} == {*store.workload_rows()} - {fault.subject}
    fault.where.unlink()
    assert faults_in(folder) == []


def test_one_of_two_segments_with_the_same_window_goes_with_its_whole_file(planted: Callable[..., Path]) -> None:
    folder = planted()
    windows = StagingStore(folder).windows
    (first,) = windows.segments
    rows = windows.scan().num_rows
    second = windows.append(windows.scan().slice(3, 1).to_pylist(), "again")
    (fault,) = faults_in(folder)
    assert {str(first.path), str(second.path)} == set(re.findall(r"segment (\S+), row", fault.sentence))
    assert "remove one of them with its whole file (of " in fault.sentence
    assert "one window" in fault.sentence
    assert f"{rows} windows" in fault.sentence
    second.path.unlink()
    assert faults_in(folder) == []


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("workload", '{"classes": 3}'),
        ("workload", "[]"),
        ("limits", '{"oops": 1}'),
        ("objective", "{"),
        ("ladder", "{}"),
    ],
)
def test_a_definition_that_cannot_be_read_is_named(planted: Callable[..., Path], field: str, text: str) -> None:
    def break_definition(workloads: Rows, _: Rows) -> None:
        one_definition(workloads)[field] = text

    folder = planted(break_definition)
    (fault,) = faults_in(folder)
    assert (fault.kind, fault.subject, fault.refused) == ("schema", "small-1", True)
    assert str(folder) in fault.sentence
    assert "the definition of workload 'small-1' cannot be read" in fault.sentence


def test_whoever_reads_records_refuses_too(planted: Callable[..., Path], tmp_path: Path) -> None:
    folder = planted(repeated)
    with pytest.raises(StoreError, match="repeats"):
        recorded_curves([folder], MachineGrid())
    with pytest.raises(StoreError, match="repeats"):
        evaluate(EvaluateSettings.load(None, {"store": folder, "tracking": tmp_path / "tracking"}))
    with pytest.raises(StoreError, match="repeats"):
        calibrate(CalibrateSettings.load(None, {"store": folder}))


def test_values_that_are_missing_are_no_fault(planted: Callable[..., Path]) -> None:
    def missing(_: Rows, windows: Rows) -> None:
        windows[5]["p99_ms"] = float("nan")
        windows[6]["p99_ms"] = None

    assert faults_in(planted(missing)) == []


def test_default_between_two_measured_sizes_is_enough(planted: Callable[..., Path]) -> None:
    def size_left_out(_: Rows, windows: Rows) -> None:
        windows[:] = [row for row in windows if row["pool_size"] != 2]

    assert faults_in(planted(size_left_out)) == []


def test_unfinished_sweep_needs_no_default_yet(planted: Callable[..., Path]) -> None:
    def unfinished(workloads: Rows, windows: Rows) -> None:
        without_default(workloads, windows)
        windows[:] = [row for row in windows if row["workload_id"] != "small-1" or row["round"] != AGAIN_ROUND]

    assert faults_in(planted(unfinished)) == []


def older(_: Rows, windows: Rows) -> None:
    for row in windows:
        row["timer"] = OLDER_TIMER


def test_records_of_the_older_timer_alone_are_refused_with_what_where_and_the_remedy(
    planted: Callable[..., Path],
) -> None:
    folder = planted(older)
    (fault,) = faults_in(folder)
    assert (fault.kind, fault.refused) == ("timer", True)
    assert f"all records in {folder} are of the older timer ({OLDER_TIMER})" in fault.sentence
    assert f"today's pool ({TIMER})" in fault.sentence
    assert "collect others with poolpilot learn collect --store FOLDER" in fault.sentence
    assert "--set older_timer=true alone" in fault.sentence


def test_whoever_learns_refuses_the_older_timer_unless_told_otherwise(
    planted: Callable[..., Path], tmp_path: Path
) -> None:
    folder = planted(older)
    given = {"store": folder, "output": tmp_path / "model", "tracking": tmp_path / "tracking"}
    sentence = f"all records in {folder} are of the older timer"
    with pytest.raises(StoreError, match=sentence):
        train(TrainSettings.load(None, given))
    with pytest.raises(StoreError, match=sentence):
        promote(PromoteSettings.load(None, {"store": folder, "candidate": champion_folder()}))
    with pytest.raises(StoreError, match=sentence):
        calibrate(CalibrateSettings.load(None, {"store": folder}))
    with pytest.raises(StoreError, match=sentence):
        recorded_curves([folder], MachineGrid())
    assert len(recorded_curves([folder], MachineGrid(), older_timer=True)) == 6
    assert not (tmp_path / "model").exists()


@pytest.mark.filterwarnings("ignore:The ``noload``")  # SQLAlchemy warns of what MLflow still uses
@pytest.mark.filterwarnings("ignore:Operation with range is deprecated")  # pandas warns of what MLflow does
@pytest.mark.filterwarnings("ignore:.*Any type hint is inferred")  # MLflow's own base class has such a hint
def test_who_asks_for_the_older_timer_is_told_of_it_and_learns(
    planted: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    shown = io.StringIO()
    told = Console(file=shown, width=500)
    small = {"use_ppo": False, "use_marwil": False, "all_action.epochs": 1, "all_action.members": 2}
    quick = {"all_action.hidden": 16, "baselines.trees.iterations": 2, "comparison.resamples": 100}
    given = {"store": planted(older), "output": tmp_path / "model", "tracking": tmp_path / "tracking"}
    train(TrainSettings.load(None, {**small, **quick, **given, "older_timer": True}), told)
    assert "are of the older timer" in shown.getvalue()
    assert "older_timer" not in shown.getvalue()


def test_records_of_both_timers_are_refused_whatever_is_asked_for(planted: Callable[..., Path]) -> None:
    faults = RecordCheck.of([CheckedStore(planted(mixed_timers))], older_timer=True).faults
    assert [(fault.kind, fault.refused) for fault in faults] == [("timer", True)]


def test_a_model_is_judged_by_records_of_the_older_timer_and_that_is_said(
    planted: Callable[..., Path], tmp_path: Path
) -> None:
    shown = io.StringIO()
    settings = EvaluateSettings.load(None, {"store": planted(older), "tracking": tmp_path / "tracking"})
    with pytest.raises(ArtefactError, match="another grid"):  # which is looked at after the records
        evaluate(settings, Console(file=shown, width=500))
    assert "are of the older timer" in shown.getvalue()


def test_split_of_the_workload_counts_where_a_family_was_moved(planted: Callable[..., Path]) -> None:
    def moved(_: Rows, windows: Rows) -> None:
        for row in of_workload(windows, "small-1"):
            row["split"] = "validation"

    folder = planted(moved)
    (fault,) = faults_in(folder)
    assert not fault.refused
    assert "measured for the split 'validation', read as 'train' like its workload" in fault.sentence
    (contents,) = RecordCheck.of([CheckedStore(folder, ("train",))]).stores
    assert "small-1" in {row["workload_id"] for _, row in contents.rows(["workload_id"])}


@pytest.mark.parametrize("kind", ["windows", "workloads"])
def test_damaged_segment_is_named_and_left_where_it_is(planted: Callable[..., Path], kind: str) -> None:
    folder = planted()
    (segment,) = (folder / kind).glob("*.parquet")
    segment.write_bytes(segment.read_bytes()[:-9])
    before = sorted(folder.rglob("*"))
    first = faults_in(folder)[0]
    assert (first.kind, first.where, first.refused) == ("damaged", segment, True)
    assert f"segment {segment} is damaged" in first.sentence
    assert sorted(folder.rglob("*")) == before


def test_windows_without_their_definition_are_told_but_not_refused(planted: Callable[..., Path]) -> None:
    """Before, a kill between the two writes of a sweep made `poolpilot learn` refuse the store for ever."""
    folder = planted(undefined_workload)
    (fault,) = faults_in(folder)
    assert (fault.kind, fault.subject, fault.refused) == ("schema", "small-1", False)
    assert "and 45 more rows (workload 'small-1'): the store does not define this workload" in fault.sentence
    assert "small-1" not in {sweep.workload_id for sweep in read_dataset(folder, "train").sweeps}


def test_segment_that_was_set_aside_is_told_but_not_refused(planted: Callable[..., Path]) -> None:
    folder = planted()
    (folder / "windows" / "run-0.parquet.torn").write_bytes(b"")
    (fault,) = faults_in(folder)
    assert (fault.kind, fault.refused) == ("damaged", False)


def rewritten(folder: Path, content: bytes) -> Path:
    """Puts other bytes under a name that fits them in place of the windows."""
    (segment,) = (folder / "windows").glob("*.parquet")
    segment.unlink()
    other = segment.with_name(f"run-{hashlib.sha256(content).hexdigest()[:32]}.parquet")
    other.write_bytes(content)
    return other


def as_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def test_segment_with_other_columns_is_a_contradicting_schema(planted: Callable[..., Path]) -> None:
    folder = planted()
    table = StagingStore(folder).windows.scan()
    wrong = {
        "column 'goodput_per_s' differs": as_bytes(table.drop_columns(["goodput_per_s"])),
        "column 'luck' differs": as_bytes(table.append_column("luck", table["pool_size"])),
        "values of other kinds": as_bytes(
            table.set_column(table.schema.get_field_index("family"), "family", pa.array([{"a": 1}] * table.num_rows))
        ),
        "no Parquet file": b"no table",
    }
    for sentence, content in wrong.items():
        segment = rewritten(folder, content)
        refused = [fault for fault in faults_in(folder) if fault.refused]
        assert [(fault.kind, fault.where) for fault in refused] == [("schema", segment)]
        assert sentence in refused[0].sentence


def test_windows_in_two_stores_are_duplicates(planted: Callable[..., Path]) -> None:
    faults = faults_in(planted(name="one"), planted(name="two"))
    assert {fault.kind for fault in faults} == {"duplicate"}
    assert all(str(fault.where.parents[1]).endswith("two") for fault in faults)


def test_family_that_one_store_learns_and_another_judges_leaks(planted: Callable[..., Path]) -> None:
    def only_training(workloads: Rows, windows: Rows) -> None:
        for rows in (workloads, windows):
            rows[:] = [row for row in rows if row["family"] == "small"]

    def held_out(workloads: Rows, windows: Rows) -> None:
        for row in [*workloads, *windows]:
            row["split"], row["run_id"] = "validation", "other"
        for row in workloads:
            del row["run_id"]
        only_training(workloads, windows)

    faults = faults_in(planted(only_training, "one"), planted(held_out, "two"))
    assert {fault.kind for fault in faults} == {"leak"}
    assert "family 'small' is learned from and evaluated on" in faults[0].sentence


def test_training_on_other_stores_looks_at_what_it_reads_of_each(tmp_path: Path) -> None:
    own, other = tmp_path / "own", tmp_path / "other"
    settings = TrainSettings.load(None, {"store": own, "training_stores": (other, other)})
    assert checked_stores(settings) == [
        CheckedStore(own, ("validation",), ("validation", "test")),
        CheckedStore(other, ("train",), ("train",)),
    ]
    alone = TrainSettings.load(None, {"store": own})
    assert checked_stores(alone) == [replace(CheckedStore(own), splits=("train", "validation"))]


def test_folder_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nothing holds no workloads; collect some: poolpilot learn collect --store"):
        faults_in(tmp_path / "nothing")
