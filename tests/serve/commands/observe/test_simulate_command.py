"""`poolpilot advise --simulate`: what cannot be written is refused before anything is simulated."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.env.servers.simulated_measurement import Scenario, SimulatedMeasurement, measure_all
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.body import as_body
from poolpilot.native_pool.simulation import CALIBRATED
from poolpilot.native_pool.workload import RequestClass, Step, Workload
from poolpilot.pipelines.calibrate import what_if as what_if_module

Invoke = Callable[..., Any]


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    workload = Workload("cpu", "test", (RequestClass("all", (Step("cpu", us=100.0),)),), connections=8, cpus=2)
    scenario = Scenario(workload, CALIBRATED)
    (window,) = measure_all([scenario.open()], [PoolTuple(2, 3, 500)], SimulatedMeasurement(requests=500))
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(as_body([window], KnobSpace.stock(2), Objective())))
    return path


@pytest.fixture
def simulate(invoke: Invoke, profile: Path) -> Invoke:
    """Simulates the profile under two configurations, or under its own alone."""

    def run(*options: object, grid: bool = True) -> Any:
        chosen = ("--grid", "--set", "sizes=1,4", "--set", "oversubscribes=3") if grid else ()
        return invoke("advise", "--simulate", profile, "--set", "requests=200", *chosen, *options)

    return run


REFUSED = {
    "no kind of picture": (("--png", "grid.txt"), True, "cannot draw into grid.txt: its name must end in one of "),
    "no suffix": (("--png", "grid"), True, "cannot draw into grid: its name must end in one of "),
    "picture in no folder": (("--png", "missing/grid.png"), True, "cannot write missing/grid.png: there is no such"),
    "no grid": (("--png", "grid.png"), False, "--png needs --grid"),
    "table in no folder": (("--json", "missing/grid.json"), True, "cannot write missing/grid.json: there is no such"),
    "table is a folder": (("--json", "."), True, "cannot write .: it is a folder"),
}


@pytest.mark.parametrize(("options", "grid", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_written_is_refused_before_anything_is_simulated(
    simulate: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, grid: bool, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(what_if_module, "simulate_batch", lambda *_: pytest.fail("it was simulated"))
    result = simulate(*options, grid=grid)
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert says in result.err


def test_machine_in_another_encoding_is_one_sentence(simulate: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_text(CALIBRATED.model_dump_json(), encoding="utf-16")
    result = simulate("--set", f"machine={path}")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "it is no text in UTF-8" in result.err


def test_table_is_written_though_the_picture_cannot_be(
    simulate: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    result = simulate("--json", tmp_path / "grid.json", "--png", tmp_path / "grid.png")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "grid.png: No space left on device" in result.err
    assert json.loads((tmp_path / "grid.json").read_text())["grid"]["pool_size"] != []


def test_picture_is_of_the_kind_that_its_name_says(simulate: Invoke, tmp_path: Path) -> None:
    assert simulate("--png", tmp_path / "grid.SVG").code == 0
    assert "<svg" in (tmp_path / "grid.SVG").read_text()
