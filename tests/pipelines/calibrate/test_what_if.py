"""What-if from a profile: the grid, its heat map and its label; what cannot be read is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.table import Table
from rich.text import Text

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, measure_all
from poolpilot.env.workloads.observed_workload import SILENT_WAIT
from poolpilot.errors import FeatureError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.body import as_body
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.calibrate.what_if import SimulateSettings, what_if
from poolpilot.serve.commands.observe.simulate_command import run

IN_FORCE = PoolTuple(2, 3, 500)


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A window of silent waits under the default tuple."""
    steps = (Step("cpu", us=100.0), Step("wait", us=3000.0, variation=0.5))
    return written(tmp_path_factory.mktemp("profile"), steps, 64, IN_FORCE)


def written(folder: Path, steps: tuple[Step, ...], connections: int, in_force: PoolTuple) -> Path:
    """The profile of a window of one class on two processors."""
    workload = Workload("mine", "test", (RequestClass("all", steps),), connections=connections, cpus=2)
    (window,) = measure_all([Scenario(workload, CALIBRATED).open()], [in_force], SimulatedMeasurement(requests=5000))
    path = folder / "profile.json"
    path.write_text(json.dumps(as_body([window], KnobSpace.stock(2), Objective())))
    return path


def settings_of(profile: Path, /, **flags: Any) -> SimulateSettings:
    quick = {"profile": profile, "sizes": (1, 32), "timer_intervals_ms": (10,), "requests": 5000}
    return SimulateSettings.load(None, {**quick, **flags})


def test_grid_shows_what_more_groups_would_give(
    profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, picture = tmp_path / "grid.json", tmp_path / "grid.png"
    run(settings_of(profile, grid=True, png=picture), table)
    shown = capsys.readouterr().out
    assert "(simulated)" in shown
    assert "not reported" in shown
    written = json.loads(table.read_text())
    assert written["simulated"] is True
    grid = {name: np.array(values) for name, values in written["grid"].items()}
    large, small = grid["pool_size"] == 32, grid["pool_size"] == 1
    assert grid["goodput_per_s"][large].min() > 3.0 * grid["goodput_per_s"][small].max()
    assert grid["p99_ms"][large].max() < grid["p99_ms"][small].min()
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_grid_leaves_the_other_knobs_as_they_are(tmp_path: Path) -> None:
    steps = (Step("cpu", us=100.0), Step("wait", us=3000.0, variation=0.5, reported=True))
    in_force = PoolTuple(2, 1, 10, create_thread_on_wait=False)
    path = written(tmp_path, steps, 64, in_force)
    found = what_if(settings_of(path, grid=True, sizes=(2,), oversubscribes=(1,)))
    assert found.columns is not None
    assert found.columns["goodput_per_s"].tolist() == [found.simulated_goodput_per_s]


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred connections whose requests take 1.5 s of a processor: served all at once, none ends for a minute."""
    return written(tmp_path_factory.mktemp("long"), (Step("cpu", us=1_500_000.0),), 100, PoolTuple(1, 1, 2000))


ONE_TIMER: dict[str, Any] = {"grid": True, "oversubscribes": (1,), "timer_intervals_ms": (2000,), "requests": 100}


def cells_of(table: Table, header: str) -> list[Text]:
    (column,) = [one for one in table.columns if one.header == header]
    return [cell for cell in column.cells if isinstance(cell, Text)]


def test_configuration_that_completes_nothing_is_never_marked_as_the_best(long: Path) -> None:
    found = what_if(settings_of(long, sizes=(1, 128), **ONE_TIMER))
    goodputs, p99s = (cells_of(table, "1, 2000") for table in found._grid_tables())
    assert [cell.style for cell in goodputs] == ["bold", ""]
    assert [cell.style for cell in p99s] == ["bold", ""]
    assert p99s[1].plain == "-"


def test_grid_that_completes_nothing_is_shown_and_written(
    long: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, picture = tmp_path / "grid.json", tmp_path / "grid.png"
    run(settings_of(long, sizes=(128,), png=picture, **ONE_TIMER), table)
    assert "99th percentile" in capsys.readouterr().out
    grid = json.loads(table.read_text())["grid"]
    assert (grid["throughput_per_s"], grid["p99_ms"]) == ([0.0], [None])
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_without_a_grid_the_tuple_in_force_is_checked(profile: Path) -> None:
    found = what_if(settings_of(profile))
    assert found.columns is None
    assert found.simulated_goodput_per_s == pytest.approx(found.measured_goodput_per_s, rel=0.1)


@pytest.mark.parametrize(
    ("flags", "refusal"),
    [
        ({"profile": Path("nowhere.json")}, "cannot read the profile nowhere.json"),
        ({"grid": True, "sizes": (1000,)}, "holds nothing that the server"),
        ({"machine": Path("nowhere.json")}, "cannot read the machine nowhere.json"),
        ({"requests": 1}, "requests"),
    ],
)
def test_what_cannot_be_done_is_refused(profile: Path, flags: dict[str, Any], refusal: str) -> None:
    with pytest.raises(SettingError, match=refusal):
        what_if(settings_of(profile, **flags))


def test_there_is_no_picture_without_a_grid(profile: Path) -> None:
    with pytest.raises(SettingError, match="needs --grid"):
        what_if(settings_of(profile)).figure()


def test_profile_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps({"windows": []}))
    with pytest.raises(SettingError, match="is no body of a prediction request"):
        what_if(settings_of(path))


@pytest.fixture
def changed(profile: Path, tmp_path: Path) -> Callable[..., Path]:
    """The profile with fields of its window and features replaced."""

    def write(*missing: str, **fields: Any) -> Path:
        body = json.loads(profile.read_text())
        body["windows"][0].update(fields)
        body["windows"][0]["features"].update(dict.fromkeys(missing))
        path = tmp_path / "changed.json"
        path.write_text(json.dumps(body))
        return path

    return write


def test_window_that_tells_nothing_of_waits_is_refused_and_not_taken_for_processor_time(
    changed: Callable[..., Path],
) -> None:
    path = changed(SILENT_WAIT, classes={}, server_kind="mariadb")
    with pytest.raises(
        FeatureError, match=r"the window of a mariadb server tells neither .*lab load --json"
    ) as refused:
        what_if(settings_of(path))
    assert refused.value.feature == "classes"


@pytest.mark.parametrize(("missing", "assumed"), [((), 0), ((SILENT_WAIT,), 1)])
def test_what_a_window_does_not_tell_is_said_to_be_assumed(
    changed: Callable[..., Path], capsys: pytest.CaptureFixture[str], missing: tuple[str, ...], assumed: int
) -> None:
    run(settings_of(changed(*missing)), None)
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert shown.count("assumed requests wait for nothing but the processor and the pool's queue") == assumed


def test_server_that_times_its_rounds_needs_no_report_of_its_clients(changed: Callable[..., Path]) -> None:
    found = what_if(settings_of(changed(classes={})))
    assert found.simulated_goodput_per_s == pytest.approx(found.measured_goodput_per_s, rel=0.1)


@pytest.fixture
def widened(profile: Path, tmp_path: Path) -> Callable[..., Path]:
    """The profile of a server whose ranges are those of MariaDB, under a tuple."""

    def write(**pool_tuple: int) -> Path:
        body = json.loads(profile.read_text())
        highest = {"pool_size": 100_000, "oversubscribe": 65_536, "timer_interval_ms": 4_294_967_295}
        for knob in body["limits"]["knobs"]:
            knob["high"] = highest.get(knob["name"], knob["high"])
        body["windows"][0]["pool_tuple"].update(pool_tuple)
        path = tmp_path / "widened.json"
        path.write_text(json.dumps(body))
        return path

    return write


def test_profile_of_a_server_with_wider_ranges_is_simulated(widened: Callable[..., Path]) -> None:
    assert what_if(settings_of(widened())).simulated_goodput_per_s > 0.0


@pytest.mark.parametrize(
    ("pool_tuple", "refusal"),
    [
        (
            {"oversubscribe": 5000},
            r"configuration in force .*oversubscribe is 5000, outside the allowed range 1\.\.1000",
        ),
        ({"timer_interval_ms": 4_000_000}, r"in force .*timer_interval_ms is 4000000, outside .* 1\.\.3\.6e\+06"),
        ({"pool_size": 5000}, r"in force .*pool_size is 5000, outside the allowed range 1\.\.4096"),
    ],
)
def test_tuple_in_force_that_the_simulator_lacks_is_refused(
    widened: Callable[..., Path], pool_tuple: dict[str, int], refusal: str
) -> None:
    with pytest.raises(SettingError, match=refusal):
        what_if(settings_of(widened(**pool_tuple)))


def test_grid_of_tuples_that_the_simulator_lacks_is_refused(widened: Callable[..., Path]) -> None:
    with pytest.raises(SettingError, match=r"any configuration of the grid: oversubscribe is 5000, outside"):
        what_if(settings_of(widened(), grid=True, oversubscribes=(5000,)))


def test_profile_with_nan_is_refused(changed: Callable[..., Path]) -> None:
    path = changed()
    path.write_text(path.read_text().replace('"duration_s": ', '"duration_s": NaN, "was": ', 1))
    with pytest.raises(SettingError, match="not JSON with finite numbers: 'NaN' is not a finite number"):
        what_if(settings_of(path))
