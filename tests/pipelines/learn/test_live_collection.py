"""Live sweeps stop after their seconds and go on; what they show calibrates the simulator."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.workloads.families import FAMILIES, PlannedWorkload, draw_workload
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_report import CollectReport
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.learn import learn as learn_module
from poolpilot.pipelines.learn import live_collection
from poolpilot.pipelines.learn.learn import LearnReport
from poolpilot.pipelines.learn.live_collection import collect_live, interleaved
from poolpilot.pipelines.store.records import StagingStore

QUIET = Console(file=io.StringIO())
TRUE = CALIBRATED.model_copy(update={"overhead_us": 150.0})
GRID = ActionGrid(sizes=(1, 2, 8), oversubscribes=(3,), timer_intervals_ms=(10, 500))

Run = Callable[..., LearnReport]


def test_the_embedded_pool_is_swept_for_its_seconds_and_then_goes_on(tmp_path: Path) -> None:
    store = StagingStore(tmp_path / "native")
    first = collect_live("native", store.directory, 1.0, 1, QUIET, tmp_path / "lab", 1)
    assert first.stopped == "the time budget is spent"
    begun = len(store.window_rows())
    assert begun == first.windows >= 1
    second = collect_live("native", store.directory, 1.0, 1, QUIET, tmp_path / "lab", 1)
    assert len(store.window_rows()) == begun + second.windows
    assert {row["server"] for row in store.window_rows()} == {"native"}


@pytest.mark.parametrize("server", ["native", "mariadb"])
@pytest.mark.parametrize(("asked", "here", "given"), [(1, 4, 1), (4, 4, 4), (16, 4, 4)])
def test_every_server_has_the_processors_that_are_asked_for_or_all_that_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: str, asked: int, here: int, given: int
) -> None:
    planned: list[PlannedWorkload[Any]] = []

    def collected(_: object, workloads: list[PlannedWorkload[Any]], *__: object) -> CollectReport:
        planned.extend(workloads)
        return CollectReport(tmp_path, 1)

    monkeypatch.setattr(live_collection, "collect", collected)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(here)))
    collect_live(server, tmp_path, 600.0, 1, QUIET, tmp_path / "lab", asked)
    assert len(planned) > 20
    assert {one.workload.cpus for one in planned} == {given}


def test_ctrl_c_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = CollectReport(tmp_path, 1, stopped="interrupted")
    monkeypatch.setattr(live_collection, "collect", lambda *_, **__: stopped)
    with pytest.raises(KeyboardInterrupt):
        collect_live("native", tmp_path, 1.0, 1, QUIET, tmp_path, 1)


def test_a_short_run_has_some_of_every_split_and_family() -> None:
    names = {"train": ("cpu_single", "silent_single", "latch_single"), "validation": ("two_latches",)}
    planned: list[PlannedWorkload[Any]] = [
        PlannedWorkload("train" if split == "train" else "validation", draw_workload(FAMILIES[name], 1, number))
        for split, families in names.items()
        for name in families
        for number in range(2)
    ]
    ordered = interleaved(planned)
    assert sorted(one.workload.name for one in ordered) == sorted(one.workload.name for one in planned)
    assert {one.workload.family for one in ordered[:4]} == {
        "cpu_single",
        "silent_single",
        "latch_single",
        "two_latches",
    }


def swept_on_a_slow_machine(server: str, store: Path, *_: Any) -> None:
    """What a live collection would leave on a machine whose requests cost 150 us of the pool's own work."""
    assert server == "native"
    racing = MeasurementSettings(window_s=1.0, keep_shares=(1.0,), finalists=1, oracle_repeats=1)
    settings = CollectSettings.load(None, {"store": store, "racing": racing, "climbs": 0, "random_share": 0.0})
    learned = ("cpu_single", "silent_single", "reported_single", "cpu_with_think")
    families = (*learned, "two_latches", "reports", "page_faults")
    planned = [PlannedWorkload(FAMILIES[name].split, draw_workload(FAMILIES[name], 5, 1)) for name in families]

    def opened(workload: Workload) -> SimulatedServer:
        return SimulatedServer(workload, TRUE.model_copy(update={"client_shares": workload.cpus >= 2}))

    collect(settings, planned, Staging(opened, grid=GRID), QUIET)


def test_the_simulator_is_calibrated_to_live_records(run_learn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn_module, "collect_live", swept_on_a_slow_machine)
    monkeypatch.setattr(learn_module, "EVALUATION_S", 400.0)  # a dozen machines are tried
    report = run_learn(servers=("native", "simulated"))
    assert report.promoted, report.objections
    assert report.folder is not None
    machine = type(TRUE).model_validate_json((report.folder / "machine.json").read_text(encoding="utf-8"))
    assert machine != CALIBRATED
    assert abs(machine.overhead_us - 150.0) < abs(CALIBRATED.overhead_us - 150.0)
    assert [sentence.partition(":")[0] for sentence in report.rounds[0]["in_words"]] == ["native", "simulated"]
    assert {row["server"] for row in report.rounds[0]["coverage"]} == {"native", "simulated"}


def test_without_live_records_the_simulator_stays_as_it_is(run_learn: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn_module, "collect_live", lambda *_: None)
    report = run_learn(servers=("native", "simulated"), workloads=1)
    assert report.folder is not None
    machine = type(TRUE).model_validate_json((report.folder / "machine.json").read_text(encoding="utf-8"))
    assert machine == CALIBRATED
