"""Calibration finds the machine that records were made on, and says how well it does on others."""

import io
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from rich.console import Console
from tests.pipelines.calibrate.conftest import without_requests

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.workloads.families import FAMILIES, PlannedWorkload, draw_workload
from poolpilot.errors import SettingError, StoreError
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.calibrate import calibrate as calibration_module
from poolpilot.pipelines.calibrate import measured_records
from poolpilot.pipelines.calibrate.calibrate import CalibrateSettings, Calibration, calibrate
from poolpilot.pipelines.calibrate.machine_file import read_machine, write_machine
from poolpilot.pipelines.calibrate.measured_records import read_measured
from poolpilot.pipelines.calibrate.simulator_validation import MeasuredWorkload, TwinReport, simulate_twins
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.store.dataset import SweptRows, read_swept_rows

TRUE = CALIBRATED.model_copy(update={"overhead_us": 150.0})
GRID = ActionGrid(sizes=(1, 8), oversubscribes=(3,), timer_intervals_ms=(10, 500))
QUIET = Console(file=io.StringIO())


def true_server(workload: Workload) -> SimulatedServer:
    return SimulatedServer(workload, TRUE.model_copy(update={"client_shares": workload.cpus >= 2}))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("records")
    racing = MeasurementSettings(window_s=1.0, keep_shares=(1.0,), finalists=1, oracle_repeats=1)
    settings = CollectSettings.load(None, {"store": folder, "racing": racing, "climbs": 0, "random_share": 0.0})
    names = ("cpu_single", "silent_single", "reported_single")
    planned = [
        PlannedWorkload("train", draw_workload(FAMILIES[name], 5, number)) for name in names for number in (0, 1)
    ]
    collect(settings, planned, Staging(true_server, grid=GRID), QUIET)
    return folder


def calibrated(store: Path, **flags: object) -> Calibration:
    given = {"store": store, "splits": ("train",), "fitted": ("overhead_us",), "machine_cpus": 2}
    short = {"evaluations": 20, "step": 1.0, "judged_share": 0.34}
    return calibrate(CalibrateSettings.load(None, {**given, **short, **flags}), QUIET)


def test_machine_of_the_records_is_found(store: Path) -> None:
    found = calibrated(store)
    assert found.machine.overhead_us == pytest.approx(150.0, rel=0.1)
    assert found.judged.summary()["error_median"] < 0.5 * found.judged_before.summary()["error_median"]
    assert found.machine.wake_us == CALIBRATED.wake_us
    fitted = {twin.measured.workload.name for twin in found.fitted_on.twins}
    assert not fitted & {twin.measured.workload.name for twin in found.judged.twins}


def test_stopped_search_keeps_the_best_so_far(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def stopping(*arguments: object, **named: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 6:
            raise KeyboardInterrupt
        return simulate_twins(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(calibration_module, "simulate_twins", stopping)
    found = calibrated(store)
    assert found.stopped
    assert len(found.losses) == 5
    assert found.machine != found.start


def test_nothing_fitted_only_judges(store: Path) -> None:
    found = calibrated(store, fitted=(), judged_store=store)
    assert found.machine == found.start == CALIBRATED
    assert len(found.judged.twins) == 6


@pytest.mark.parametrize("judged_by", ["kept back", "another store"])
def test_no_more_is_judged_than_asked_for_and_what_is_fitted_to_stays_the_same(store: Path, judged_by: str) -> None:
    """A store that grows would otherwise take ever longer to judge by, three times over."""
    given: dict[str, object] = {"judged_store": store} if judged_by == "another store" else {"judged_share": 0.6}
    fewer = calibrated(store, evaluations=1, judged_workloads=2, **given)
    assert len(fewer.judged.twins) == 2
    assert names_of(fewer.fitted_on) == names_of(calibrated(store, evaluations=1, **given).fitted_on)


def names_of(report: TwinReport) -> list[str]:
    return [twin.measured.workload.name for twin in report.twins]


def calibrated_and_kept(store: Path, output: Path, **flags: object) -> Calibration:
    """Calibrates as the command does."""
    given = {"store": store, "splits": ("train",), "fitted": ("overhead_us",), "evaluations": 2, **flags}
    return calibrate(CalibrateSettings.load(None, given), QUIET, partial(write_machine, output))


def test_workloads_that_completed_nothing_under_the_default_are_judged_but_not_rebuilt(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_completions(*given: object) -> list[MeasuredWorkload]:
        return [
            replace(one, stages=[replace(stage, window=without_requests(stage.window)) for stage in one.stages])
            for one in read_measured(*given)  # type: ignore[arg-type]
        ]

    monkeypatch.setattr(calibration_module, "read_measured", without_completions)
    found = calibrated_and_kept(store, tmp_path / "machine.json")
    assert read_machine(tmp_path / "machine.json") == found.machine
    assert len(found.judged.twins) == 3
    assert found.rebuilt.twins == []
    told = io.StringIO()
    Console(file=told).print(found.table())
    assert "nan" not in told.getvalue()


def test_machine_is_kept_where_its_evaluation_is_stopped(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopping(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(calibration_module, "rebuilt", stopping)
    with pytest.raises(KeyboardInterrupt):
        calibrated_and_kept(store, tmp_path / "machine.json")
    assert (tmp_path / "machine.json").exists()


def test_processors_are_those_of_the_process() -> None:
    program = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from poolpilot.pipelines.calibrate.calibrate import CalibrateSettings\n"
        "print(CalibrateSettings().machine_cpus)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout == b"1\n"


def test_missing_files_and_unknown_parameters_are_refused(tmp_path: Path, store: Path) -> None:
    with pytest.raises(SettingError, match="cannot read the machine"):
        calibrated(store, start=tmp_path / "none.json")
    with pytest.raises(SettingError, match="cannot be fitted; these can: overhead_us"):
        calibrated(store, fitted=("speed",))
    with pytest.raises(StoreError, match="holds no workloads"):
        calibrated(tmp_path / "empty")


def stolen(store: Path, first: int | None = None) -> SweptRows:
    """The records, with the hypervisor taking a fifth of every window, or of the first ones."""
    swept = read_swept_rows(store, "train")
    disturbed = {
        name: [dict(row) | {"steal_share": 0.2} for row in rows[:first]] + list(rows[len(rows[:first]) :])
        for name, rows in swept.windows.items()
    }
    return replace(swept, windows=disturbed)


def test_records_that_the_hypervisor_disturbed_are_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disturbed = stolen(store)
    monkeypatch.setattr(measured_records, "read_swept_rows", lambda *_: disturbed)
    assert len(read_measured(store, ("train",), most_steal=0.2)) == len(disturbed.windows)
    with pytest.raises(StoreError, match="at most 5%; raise most_steal"):
        calibrated(store)


def test_first_windows_that_the_hypervisor_disturbed_are_not_fitted_to(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed = stolen(store, first=1)
    monkeypatch.setattr(measured_records, "read_swept_rows", lambda *_: disturbed)
    with pytest.raises(StoreError, match="more than 5% of the first 1 windows of every workload; raise windows"):
        calibrated(store, windows=1)
    assert calibrated(store, windows=2, evaluations=1).fitted_on.twins
    assert calibrated(store, windows=1, evaluations=1, most_steal=0.2).fitted_on.twins


def test_workload_whose_first_windows_do_not_count_makes_room_for_another(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed, whole = stolen(store, first=1), read_swept_rows(store, "train")
    undisturbed = calibrated(store, workloads=1, evaluations=1).fitted_on.twins[0].measured.workload.name
    mixed = {**whole.windows, undisturbed: disturbed.windows[undisturbed]}
    monkeypatch.setattr(measured_records, "read_swept_rows", lambda *_: replace(whole, windows=mixed))
    (twin,) = calibrated(store, workloads=1, windows=1, evaluations=1).fitted_on.twins
    assert twin.measured.workload.name != undisturbed
