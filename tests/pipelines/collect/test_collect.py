"""A collection measures every workload once, survives stops and kills, and never measures twice."""

import io
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from poolpilot.durability.folder_lock import locked_folder
from poolpilot.env.action_grid import DEFAULT_GRID, LARGE_GRID, ActionGrid
from poolpilot.env.measurement.sweep import AGAIN_ROUND
from poolpilot.env.server import PoolServer
from poolpilot.env.workloads.families import PlannedWorkload
from poolpilot.errors import ServerError, SettingError, StoreError, TakenFolderError
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_report import CollectReport
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.collect.workload_run import core_of
from poolpilot.pipelines.store.dataset import read_dataset
from poolpilot.pipelines.store.records import StagingStore

NewSettings = Callable[..., CollectSettings]
Planned = list[PlannedWorkload]

KILLED = """
import runpy, sys, time
from dataclasses import replace
from pathlib import Path
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_settings import CollectSettings
fakes = runpy.run_path(sys.argv[1])
class Slow(fakes["ProfiledCurveServer"]):
    def run_for(self, seconds):
        super().run_for(seconds)
        time.sleep(0.02)
racing = MeasurementSettings(window_s=1.0, keep_shares=(0.4,), finalists=3, final_repeats=2, oracle_repeats=2)
settings = {"store": Path(sys.argv[2]), "racing": racing, "segment_every_s": 0.0}
staging = Staging(Slow, fakes["_new_climber"], fakes["GRID"])
collect(CollectSettings.load(None, settings), [fakes["_planned"]("small", 0)], staging)
"""
"""A collection of one workload, a segment for every window, slow enough to be killed half-way."""

PER_WORKLOAD = {"sweep": 24 + 6 + 2, "random": 8, "climb": 6}


def run(settings: CollectSettings, planned: Planned, staging: Staging) -> tuple[CollectReport, str]:
    shown = io.StringIO()
    report = collect(settings, planned, staging, Console(file=shown, width=200))
    return report, shown.getvalue()


def rows_of(settings: CollectSettings) -> list[Mapping[str, Any]]:
    return StagingStore(settings.store).window_rows()


def kinds_of(settings: CollectSettings, workload_id: str) -> Counter[str]:
    return Counter(row["kind"] for row in rows_of(settings) if row["workload_id"] == workload_id)


def calling(staging: Staging, in_window: int, call: Callable[[], None]) -> Staging:
    """The same staging, but `call` happens in the middle of one of the sweeps' or random windows."""
    windows = 0

    def opened(workload: Workload) -> PoolServer:
        server = staging.open_server(workload)
        run_for = server.run_for

        def counted(seconds: float) -> None:
            nonlocal windows
            run_for(seconds)
            windows += seconds == 1.0
            if seconds == 1.0 and windows == in_window:
                call()

        server.run_for = counted  # type: ignore[method-assign]
        return server

    return replace(staging, open_server=opened)


def test_every_phase_of_every_workload_is_recorded(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    settings = collect_settings()
    report, shown = run(settings, planned, staging)
    assert (report.complete, report.planned, report.failed, report.stopped) == (15, 15, {}, None)
    assert report.windows == 15 * sum(PER_WORKLOAD.values())
    assert settings.expected_windows(24) == sum(PER_WORKLOAD.values())
    kinds = Counter((row["workload_id"], row["kind"]) for row in rows_of(settings))
    for one in planned:
        assert {kind: kinds[one.workload.name, kind] for kind in PER_WORKLOAD} == PER_WORKLOAD
        assert f"{one.workload.name}: best (" in shown
    assert report.digest == StagingStore(settings.store).digest


def test_records_say_how_each_window_was_chosen(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    settings = collect_settings()
    run(settings, planned[:1], staging)
    rows = rows_of(settings)
    assert {row["propensity"] for row in rows if row["kind"] == "random"} == {1.0 / 24}
    assert {row["propensity"] for row in rows if row["kind"] != "random"} == {1.0}
    assert [row["round"] for row in rows if row["kind"] == "climb"] == list(range(6))
    assert sum(row["round"] == AGAIN_ROUND for row in rows) == 2
    assert [row["pool_size"] for row in rows if row["kind"] == "climb"] == [2, 4, 8, 16, 32, 64]
    assert all(row["settle_s"] > 0.0 for row in rows if row["kind"] != "climb")


def test_a_second_run_has_nothing_to_do(collect_settings: NewSettings, planned: Planned, staging: Staging) -> None:
    settings = collect_settings()
    first, _ = run(settings, planned[:2], staging)
    second, _ = run(settings, planned[:2], staging)
    assert (second.complete, second.windows, second.digest) == (2, 0, first.digest)


def test_what_a_damaged_segment_has_lost_is_measured_again(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    settings = collect_settings(segment_every_s=0.0)
    run(settings, planned[:1], staging)
    store = StagingStore(settings.store)
    rows = store.window_rows()
    first = next(row for row in rows if row["kind"] == "sweep" and row["round"] == 0)
    for path in (settings.store / "windows").glob("*.parquet"):
        path.unlink()
    store.windows.append([row for row in rows if row is not first], "without")
    run(settings, planned[:1], staging)
    raced = Counter(core_of(row) for row in store.window_rows() if row["kind"] == "sweep" and row["round"] == 0)
    assert core_of(first) in raced
    assert set(raced.values()) == {1}


def test_second_collector_of_a_store_is_refused(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    settings = collect_settings()
    with locked_folder(settings.store, "collects"), pytest.raises(TakenFolderError, match="another process collects"):
        run(settings, planned[:1], staging)


@pytest.mark.parametrize("in_window", [1, 17, 24, 30, 32, 33, 40, 45, 75])
def test_an_interrupt_keeps_what_was_measured_and_the_next_run_goes_on(
    collect_settings: NewSettings, planned: Planned, staging: Staging, in_window: int
) -> None:
    settings = collect_settings()
    interrupted = calling(staging, in_window, lambda: os.kill(os.getpid(), signal.SIGINT))
    report, _ = run(settings, planned[:3], interrupted)
    assert report.stopped == "interrupted"
    assert report.windows == len(rows_of(settings))
    assert Counter(row["kind"] != "climb" for row in rows_of(settings))[True] == in_window
    report, _ = run(settings, planned[:3], staging)
    assert (report.complete, report.stopped) == (3, None)
    for one in planned[:3]:
        assert kinds_of(settings, one.workload.name) == PER_WORKLOAD


def test_a_second_interrupt_ends_at_once_with_the_rows_kept(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    def twice() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    settings = collect_settings()
    with pytest.raises(KeyboardInterrupt):
        run(settings, planned[:1], calling(staging, 5, twice))
    assert len(rows_of(settings)) == 4
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_kill_costs_no_segment_that_was_written(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    settings = collect_settings()
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parents[1] / "conftest.py"), str(settings.store)]
    with subprocess.Popen(command, env=os.environ) as collector:
        while len(StagingStore(settings.store).windows.segments) < 10:
            assert collector.poll() is None
        collector.kill()
    kept = kinds_of(settings, planned[0].workload.name)
    assert kept["sweep"] >= 10
    report, _ = run(settings, planned[:1], staging)
    assert report.complete == 1
    assert report.windows == sum(PER_WORKLOAD.values()) - kept["sweep"]
    assert kinds_of(settings, planned[0].workload.name) == PER_WORKLOAD


def test_a_climb_cut_short_is_climbed_again(collect_settings: NewSettings, planned: Planned, staging: Staging) -> None:
    settings = collect_settings()
    periods = 0

    def opened(workload: Workload) -> PoolServer:
        server = staging.open_server(workload)
        run_for = server.run_for

        def counted(seconds: float) -> None:
            nonlocal periods
            run_for(seconds)
            periods += seconds == 0.5
            if periods == 4:
                os.kill(os.getpid(), signal.SIGINT)

        server.run_for = counted  # type: ignore[method-assign]
        return server

    report, _ = run(settings, planned[:1], replace(staging, open_server=opened))
    assert report.complete == 0
    assert kinds_of(settings, planned[0].workload.name)["climb"] == 4
    report, _ = run(settings, planned[:1], staging)
    assert report.complete == 1
    climbs = Counter(row["run_id"] for row in rows_of(settings) if row["kind"] == "climb")
    assert sorted(climbs.values()) == [4, 6]


def test_a_spent_time_budget_stops_between_two_windows(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    report, _ = run(collect_settings(time_budget_s=1e-6), planned, staging)
    assert report.stopped == "the time budget is spent"
    assert (report.complete, report.windows) == (0, 0)


def test_a_failing_workload_is_named_and_the_rest_is_measured(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    def opened(workload: Workload) -> PoolServer:
        if workload.name == "large-1":
            raise ServerError("the load generator has died")
        return staging.open_server(workload)

    report, shown = run(collect_settings(), planned[:6], replace(staging, open_server=opened))
    assert report.failed == {"large-1": "the load generator has died"}
    assert report.complete == 5
    assert "large-1 failed: the load generator has died" in shown


def test_failures_in_a_row_end_the_run(collect_settings: NewSettings, planned: Planned, staging: Staging) -> None:
    def opened(workload: Workload) -> PoolServer:
        raise ServerError(f"no server for {workload.name}")

    with pytest.raises(ServerError, match="2 workloads failed in a row, the last with: no server for small-1"):
        run(collect_settings(failures_in_a_row=2), planned, replace(staging, open_server=opened))


def test_workloads_that_fail_in_every_run_end_none(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    """Before, once all between them were complete, they failed in a row, and every later run ended with them."""

    def opened(workload: Workload) -> PoolServer:
        if workload.family == "small":
            raise ServerError(f"no server for {workload.name}")
        return staging.open_server(workload)

    settings, failing = collect_settings(failures_in_a_row=2), replace(staging, open_server=opened)
    between = [one for pair in zip(planned[:3], planned[3:6], strict=True) for one in pair]
    for complete in (3, 5):
        report, _ = run(settings, [*between, *planned[6:8]][: 2 * complete], failing)
        assert (report.complete, len(report.failed)) == (complete, 3)


def test_a_store_of_other_workloads_is_refused(
    collect_settings: NewSettings, planned: Planned, staging: Staging
) -> None:
    settings = collect_settings()
    run(settings, planned[:1], staging)
    other = PlannedWorkload("train", replace(planned[0].workload, connections=99))
    more = collect_settings(**{"climbs": 2})
    with pytest.raises(StoreError, match="workload 'small-0' with another workload; collect into a new directory"):
        run(more, [other], staging)


def test_the_plan_spreads_every_split_over_the_run(collect_settings: NewSettings) -> None:
    settings = collect_settings(train_workloads=8, validation_workloads=2, test_workloads=2)
    splits = [one.split for one in settings.planned()]
    assert Counter(splits) == {"train": 8, "validation": 2, "test": 2}
    assert {"train", "validation", "test"} == set(splits[:6])
    only = collect_settings(train_workloads=8, validation_workloads=2, test_workloads=2, splits=("test",))
    assert [one.split for one in only.planned()] == ["test", "test"]
    assert [one for one in settings.planned() if one.split == "test"] == only.planned()


def test_families_are_collected_by_name_and_are_those_of_the_whole_plan(collect_settings: NewSettings) -> None:
    whole = collect_settings().planned()
    two = collect_settings(families=("log_pipeline", "two_latches")).planned()
    assert two == [one for one in whole if one.workload.family in ("log_pipeline", "two_latches")]
    assert Counter(one.split for one in two) == {"validation": 5, "test": 5}


@pytest.mark.parametrize(
    ("families", "splits", "sentence"),
    [
        (("nonsense",), ("test",), "there is no family 'nonsense' on the server 'native'; there are cpu_single, "),
        (("cpu_single", "baskets"), ("test",), "no workload of the family 'cpu_single' is planned: .* splits test, "),
    ],
)
def test_family_that_is_not_planned_is_refused(
    collect_settings: NewSettings, families: tuple[str, ...], splits: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(SettingError, match=sentence):
        collect_settings(families=families, splits=splits).planned()


@pytest.mark.parametrize("grid", [DEFAULT_GRID, LARGE_GRID])
def test_the_grid_is_a_setting_and_is_kept_with_the_workloads(
    collect_settings: NewSettings, planned: Planned, staging: Staging, grid: ActionGrid
) -> None:
    name = "large" if grid is LARGE_GRID else "default"
    settings = collect_settings(grid=name, climbs=0)
    assert settings.action_grid == grid
    run(settings, planned[:1], replace(staging, grid=settings.action_grid))
    assert read_dataset(settings.store, "train").grid == grid
    assert {row["pool_size"] for row in rows_of(settings)} == set(grid.sizes)


def test_windows_span_two_ticks_of_the_slowest_timer_on_either_grid() -> None:
    racing = CollectSettings.load(None, {}).racing
    for pool_tuple in LARGE_GRID.tuples:
        assert racing.window_for(pool_tuple) >= 2 * pool_tuple.timer_interval_ms / 1000
