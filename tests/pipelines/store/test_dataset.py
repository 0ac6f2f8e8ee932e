"""The dataset is exactly what was measured: same windows, same values, nothing of other splits."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolpilot.env.measurement.protocol import Measured, observe
from poolpilot.env.measurement.sweep import AGAIN_ROUND
from poolpilot.env.objective import Objective
from poolpilot.env.servers.curve import CurveServer
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.errors import StoreError
from poolpilot.featurizer.record import OLDER_TIMER, TIMER
from poolpilot.pipelines.collect import workload_run
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.store import dataset
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.records import StagingStore

NewSettings = Callable[..., CollectSettings]
Planned = list[PlannedWorkload]


def collected(settings: CollectSettings, planned: Planned, staging: Staging) -> Path:
    collect(settings, planned, staging, Console(file=io.StringIO()))
    return settings.store


def test_sweeps_come_back_with_exactly_the_windows_measured(
    collect_settings: NewSettings, planned: Planned, staging: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[Measured] = []
    add = workload_run.RecordSink.add

    def spying(sink: workload_run.RecordSink, one: Measured, **context: object) -> None:
        if context["kind"] == "sweep":
            measured.append(one)
        add(sink, one, **context)

    monkeypatch.setattr(workload_run.RecordSink, "add", spying)
    store = collected(collect_settings(), planned[:1], staging)
    (sweep,) = read_dataset(store, "train").of_split("train")
    windows = [window for entry in sweep.entries.values() for window in entry.windows]
    expected = [one.window for one in measured if one.round != AGAIN_ROUND]
    assert sorted(str(window.as_dict()) for window in windows) == sorted(str(one.as_dict()) for one in expected)
    again = [sweep.objective.value(one.window) for one in measured if one.round == AGAIN_ROUND]
    assert sweep.again_values == tuple(again)
    assert sweep.limits.cpus == 2
    assert sweep.family == "small"


def test_only_the_wanted_splits_are_read(collect_settings: NewSettings, planned: Planned, staging: Staging) -> None:
    store = collected(collect_settings(), planned, staging)
    dataset = read_dataset(store, "train", "validation")
    assert {sweep.split for sweep in dataset.sweeps} == {"train", "validation"}
    assert len(dataset.of_split("train")) == 6
    assert len(dataset.of_split("validation")) == 3
    with pytest.raises(StoreError, match=r"no complete workload of the split 'test'.* --set splits=test"):
        dataset.of_split("test")
    assert [row["workload_id"] for row in dataset.summary()] == [sweep.workload_id for sweep in dataset.sweeps]


def test_a_store_of_simulated_workloads_is_told_to_be_for_learning_alone(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    training = [workload for workload in planned if workload.split == "train"]
    store = collected(collect_settings(server="simulated"), training, staging)
    dataset = read_dataset(store, "train", "validation")
    with pytest.raises(
        StoreError, match=r"of the split 'validation'; its workloads are simulated.*--set training_stores="
    ):
        dataset.of_split("validation")


def test_the_digest_names_the_rows_and_not_the_segments(
    collect_settings: NewSettings, planned: Planned, staging: Staging, tmp_path: Path
) -> None:
    store = collected(collect_settings(), planned, staging)
    before = read_dataset(store, "train", "validation")
    merged = StagingStore(store).merged_into(tmp_path / "merged")
    assert len(merged.windows.segments) == len(merged.workloads.segments) == 1
    assert read_dataset(merged.directory, "train", "validation").digest == before.digest
    assert read_dataset(store, "train").digest != before.digest


def test_an_unfinished_sweep_is_left_out_and_named(
    collect_settings: NewSettings, planned: Planned, staging: Staging, caplog: pytest.LogCaptureFixture
) -> None:
    store = collected(collect_settings(), planned[:1], staging)
    definition = {**StagingStore(store).workload_rows()["small-0"], "workload_id": "small-1"}
    StagingStore(store).workloads.append([definition], "other")
    dataset = read_dataset(store, "train")
    assert dataset.unfinished == ("small-1",)
    assert [sweep.workload_id for sweep in dataset.sweeps] == ["small-0"]
    assert "1 of 2 workloads are not completely swept" in caplog.text


def test_a_family_in_two_splits_is_refused(collect_settings: NewSettings, planned: Planned, staging: Staging) -> None:
    leaking = PlannedWorkload("test", planned[1].workload)
    store = collected(collect_settings(), [planned[0], leaking], staging)
    with pytest.raises(StoreError, match="family 'small' is in the splits 'test' and 'train'"):
        read_dataset(store, "train")


def test_an_empty_store_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="holds no workloads; collect some"):
        read_dataset(tmp_path, "train")


def test_two_grids_in_one_store_are_refused(collect_settings: NewSettings, planned: Planned, staging: Staging) -> None:
    store = collected(collect_settings(), planned[:1], staging)
    other = replace(staging, grid=replace(staging.grid, sizes=(1, 2, 4)))
    with pytest.raises(StoreError, match="holds another grid of configurations"):
        collected(collect_settings(), planned[1:2], other)
    apart = store.with_name("apart")
    collected(collect_settings().model_copy(update={"store": apart}), planned[1:2], other)
    for kind in ("workloads", "windows"):
        for segment in (apart / kind).glob("*.parquet"):
            segment.rename(store / kind / segment.name)
    with pytest.raises(StoreError, match="mixes 2 grids"):
        read_dataset(store, "train")


def test_older_timer_of_other_workloads_in_the_store_is_refused_too(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    store = collected(collect_settings(), planned[:1], staging)
    older(store, planned[0].workload.name)
    with pytest.raises(StoreError, match="older timer of the pool"):
        collected(collect_settings(), planned[1:2], staging)


def test_timer_of_ours_is_no_matter_of_mariadbs_records(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    dataset = read_dataset(collected(collect_settings(), planned[:1], staging), "train")
    assert dataset.timer == TIMER
    mariadb = Path("pipelines/mariadb")
    shipped = read_dataset(mariadb, "train")
    assert shipped.timer is None
    assert shipped.learning_from([shipped, dataset]).timer is None


def older(store: Path, workload: str) -> None:
    """Gives the windows of a workload the mark of the older timer."""
    rows = [
        {**row, "timer": OLDER_TIMER} if row["workload_id"] == workload else row
        for row in StagingStore(store).window_rows()
    ]
    for path in (store / "windows").glob("*.parquet"):
        path.unlink()
    StagingStore(store).windows.append(rows, run_id="older")


def test_records_of_two_timers_are_refused_by_name(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    store = collected(collect_settings(), planned[:2], staging)
    assert read_dataset(store, "train").timer == TIMER
    older(store, planned[0].workload.name)
    with pytest.raises(StoreError, match=r"different timers .* free \(.*\) and restarted \(.*\)"):
        read_dataset(store, "train")
    with pytest.raises(StoreError, match=r"older timer of the pool .* collect into a new directory"):
        collected(collect_settings(), planned, staging)


def test_stores_of_two_timers_are_not_learned_from_together(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    dataset = read_dataset(collected(collect_settings(), planned[:2], staging), "train")
    with pytest.raises(StoreError, match="different timers"):
        dataset.learning_from([dataset, replace(dataset, timer=OLDER_TIMER)])


def test_rows_of_another_schema_are_refused(
    collect_settings: NewSettings, planned: Planned, staging: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = collected(collect_settings(), planned[:1], staging)
    monkeypatch.setattr("poolpilot.pipelines.store.dataset.SCHEMA_VERSION", 99)
    with pytest.raises(StoreError, match="this is version 99"):
        read_dataset(store, "train")


def test_server_views_double_the_sweeps_and_keep_the_splits(recorded_store: Path) -> None:
    dataset = read_dataset(recorded_store, "train", "validation")
    doubled = dataset.with_server_views()
    assert len(doubled.sweeps) == 2 * len(dataset.sweeps)
    for split in ("train", "validation"):
        assert {one.family for one in doubled.of_split(split)} == {one.family for one in dataset.of_split(split)}
    assert doubled.digest == dataset.digest


@pytest.mark.parametrize(
    ("completed_per_s", "inside"), [(5.0, 64.0), (0.05, 64.0), (0.05, 0.01), (0.0, 64.0), (0.0, 0.0)]
)
def test_goodput_by_time_comes_back_as_it_was(
    monkeypatch: pytest.MonkeyPatch, completed_per_s: float, inside: float
) -> None:
    """Of a request in twenty seconds, and of none, too: the number in the system is not among the columns."""
    objective = Objective(signal="time_in_system")
    seen = observe(CurveServer([(1, 100), (16, 1600)], connections=64), 10.0).window.without_classes()
    profile = replace(seen.profile, features={**seen.profile.features, "completed_per_s": completed_per_s})
    measured = replace(seen, profile=profile, in_system=None)
    worth_per_s = objective.goodput_per_s(replace(measured, in_system=inside))
    monkeypatch.setattr(dataset, "checked_window", lambda _row: measured)
    again = dataset._judged_window({"goodput_per_s": worth_per_s}, objective)
    assert objective.goodput_per_s(again) == pytest.approx(worth_per_s)
