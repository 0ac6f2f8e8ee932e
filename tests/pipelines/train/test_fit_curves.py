"""Response curves are drawn for any machine, the same for the same seed, and kept when a run is stopped."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from poolpilot.models.latent.machine_grid import MachineGrid
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import VARIABLE, load_curves
from poolpilot.pipelines.train.fit_curves import FitCurvesSettings, fit_curves

GRID = MachineGrid(sizes=(1, 64), multiples=(1.0,), oversubscribes=(3,), timer_intervals_ms=(10,))


def fitted(**values: object) -> ResponseCurves:
    settings = FitCurvesSettings(workloads=1, requests=200, grid=GRID, threads=1, **values)  # type: ignore[arg-type]
    return fit_curves(settings, Console(file=io.StringIO()))


@pytest.fixture(scope="module")
def curves() -> ResponseCurves:
    return fitted()


def test_same_seed_gives_the_same_curves(curves: ResponseCurves) -> None:
    assert fitted() == curves
    assert fitted(seed=1) != curves


def test_every_family_and_many_machines_are_drawn(curves: ResponseCurves) -> None:
    assert len({curve.family for curve in curves.curves}) == len(curves.curves) >= 20
    assert len({curve.cpus for curve in curves.curves}) >= 5
    assert curves.log_worth.shape == (len(curves.curves), 3)


def test_stopped_run_goes_on_and_other_settings_begin_anew(curves: ResponseCurves, tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    assert fitted(runs=runs) == curves
    rows = [json.loads(line) for line in runs.read_text(encoding="utf-8").splitlines()]
    rows[0]["log_worth"] = [9.0, 9.0, 9.0]
    runs.write_text("".join(json.dumps(row) + "\n" for row in rows[:3]), encoding="utf-8")
    resumed = fitted(runs=runs)
    assert resumed.curves[0].log_worth == (9.0, 9.0, 9.0)
    assert resumed.curves[1:] == curves.curves[1:]
    assert 9.0 not in fitted(runs=runs, seed=1).curves[0].log_worth


def test_shipped_curves_cover_small_and_large_machines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    shipped = load_curves()
    cpus = [curve.cpus for curve in shipped.curves]
    assert (min(cpus), max(cpus) > 64, len({curve.family for curve in shipped.curves}) >= 20) == (1, True, True)
    other = tmp_path / "other.json"
    other.write_text(shipped.without_family(shipped.curves[0].family).as_json(), encoding="utf-8")
    monkeypatch.setenv(VARIABLE, str(other))
    assert load_curves() != shipped
