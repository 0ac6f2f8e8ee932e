"""Calibration finds the machine that records were made on, and says how well it does on others."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from poolpilot.env.action_grid import ActionGrid
from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.env.servers.simulated import SimulatedServer
from poolpilot.env.workloads.families import FAMILIES, PlannedWorkload, draw_workload
from poolpilot.errors import SettingError, StoreError
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import Workload
from poolpilot.pipelines.calibrate import calibrate as calibration_module
from poolpilot.pipelines.calibrate.calibrate import CalibrateSettings, Calibration, calibrate, read_measured
from poolpilot.pipelines.calibrate.machine_file import read_machine, write_machine
from poolpilot.pipelines.calibrate.simulator_validation import simulate_twins
from poolpilot.pipelines.collect.collect import Staging, collect
from poolpilot.pipelines.collect.collect_settings import CollectSettings
from poolpilot.pipelines.store.dataset import read_swept_rows

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


def test_machine_file_gives_back_the_machine(tmp_path: Path) -> None:
    write_machine(tmp_path / "machine.json", TRUE)
    assert read_machine(tmp_path / "machine.json") == TRUE


@pytest.mark.parametrize(
    ("text", "refusal"),
    [("{", "refused"), (json.dumps({"wake_us": -1.0}), "wake_us"), (json.dumps({"speed": 2}), "speed")],
)
def test_bad_machine_file_is_refused_by_field(tmp_path: Path, text: str, refusal: str) -> None:
    path = tmp_path / "machine.json"
    path.write_text(text)
    with pytest.raises(SettingError, match=refusal):
        read_machine(path)


def test_missing_files_and_unknown_parameters_are_refused(tmp_path: Path, store: Path) -> None:
    with pytest.raises(SettingError, match="cannot read the machine"):
        read_machine(tmp_path / "none.json")
    with pytest.raises(SettingError, match="cannot be fitted; these can: overhead_us"):
        calibrated(store, fitted=("speed",))
    with pytest.raises(StoreError, match="holds no workloads"):
        calibrated(tmp_path / "empty")


def test_records_that_the_hypervisor_disturbed_are_refused(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swept = read_swept_rows(store, "train")
    disturbed = {name: [dict(row) | {"steal_share": 0.2} for row in rows] for name, rows in swept.windows.items()}
    monkeypatch.setattr(calibration_module, "read_swept_rows", lambda *_: replace(swept, windows=disturbed))
    assert len(read_measured(store, ("train",), most_steal=0.2)) == len(swept.windows)
    with pytest.raises(StoreError, match="at most 5%; raise most_steal"):
        calibrated(store)
