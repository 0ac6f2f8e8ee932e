"""`poolpilot bench climbers` compares, shows the table and writes it for machines."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from poolpilot.pipelines.bench import climbers
from poolpilot.pipelines.bench.climbers import (
    SERVER_CONTROLLERS,
    ClimbersBenchSettings,
    bench_climbers,
    losing_table,
    suite_of,
    table_of,
)
from poolpilot.pipelines.bench.climbing.curve_suite import ABLATIONS, CurveSuite
from poolpilot.pipelines.bench.climbing.reference_controllers import BASELINES, SPECTRAL
from poolpilot.pipelines.bench.climbing.server_suite import NativeSuite, SimulatedSuite
from poolpilot.pipelines.bench.climbing.suite import Run, Suite
from poolpilot.pipelines.kept_runs import digest_of
from poolpilot.serve.commands.look.bench_climbers_command import run

TINY: dict[str, Any] = {
    "shapes": ("arch",),
    "scales": (8,),
    "noises": (0.0, 0.05),
    "shift_scales": (32,),
    "seeds": 2,
    "samples": 64,
    "processes": 1,
}


def test_command_shows_the_table_and_writes_it_for_machines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ClimbersBenchSettings(**TINY, plots=tmp_path / "plots")
    run(settings, tmp_path / "climbers.json")
    shown = capsys.readouterr().out
    assert all(name in shown for name in (SPECTRAL, *BASELINES))
    values = json.loads((tmp_path / "climbers.json").read_text())
    assert 0.0 <= values["summary"]["spectral_best_share"] <= 1.0
    assert values["summary"]["cells"] == 4 * 3 + 2 * 3
    assert [(row["shifted"], row["noise"]) for row in values["by_curve"]] == [
        (shifted, noise) for shifted in (False, True) for noise in (0.0, 0.05, 0.05)
    ]
    assert values["summary"]["means"].keys() == {SPECTRAL, *BASELINES}
    pictures = list((tmp_path / "plots").iterdir())
    assert pictures
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)


def test_ablations_name_each_variant(capsys: pytest.CaptureFixture[str]) -> None:
    run(ClimbersBenchSettings(**TINY, ablations=True, starts=("one",)), None)
    shown = " ".join(capsys.readouterr().out.split())
    assert all(name in shown for name in ABLATIONS)


def test_comparison_goes_on_from_the_file_of_runs(tmp_path: Path) -> None:
    settings = ClimbersBenchSettings(**TINY, starts=("one",), runs=tmp_path / "runs.jsonl")
    first = bench_climbers(settings).as_dict()
    kept = (tmp_path / "runs.jsonl").read_text()
    assert bench_climbers(settings).as_dict() == first
    assert (tmp_path / "runs.jsonl").read_text() == kept


def test_tables_have_a_row_for_each_controller_and_losing_cell() -> None:
    comparison = bench_climbers(ClimbersBenchSettings(**TINY, starts=("optimum",)))
    assert table_of(comparison).row_count == len(comparison.controllers)
    assert losing_table(comparison).row_count == min(len(comparison.losing_cells()), climbers.LOSING_SHOWN)


def test_each_backend_has_its_suite_and_its_controllers() -> None:
    curve = suite_of(ClimbersBenchSettings())
    simulated = suite_of(ClimbersBenchSettings(backend="simulated", families=("sim_hot_latch",)))
    native = suite_of(ClimbersBenchSettings(backend="native", controllers=("usl",), period_s=0.25))
    assert isinstance(curve, CurveSuite)
    assert curve.controllers == (SPECTRAL, *BASELINES)
    assert isinstance(simulated, SimulatedSuite)
    assert (simulated.names, simulated.families) == (SERVER_CONTROLLERS, ("sim_hot_latch",))
    assert isinstance(native, NativeSuite)
    assert (native.names, native.climb.period_s) == (("usl",), 0.25)


@pytest.mark.parametrize(("backend", "expected"), [("curve", 3), ("simulated", 3), ("native", 1)])
def test_live_pools_are_measured_one_at_a_time(monkeypatch: pytest.MonkeyPatch, backend: str, expected: int) -> None:
    asked: list[int] = []

    def fake(suite: Suite, processes: int, kept: Path | None, under: str) -> list[Run]:
        assert suite.tasks()
        assert kept is None
        assert under
        asked.append(processes)
        return []

    monkeypatch.setattr(climbers, "run_suite", fake)
    bench_climbers(ClimbersBenchSettings.model_validate({"backend": backend, "processes": 3}))
    assert asked == [expected]


@pytest.mark.parametrize("wrong", [{"samples": 8}, {"seeds": 0}, {"correlation": 1.0}, {"backend": "moon"}])
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        ClimbersBenchSettings.model_validate(wrong)


@pytest.mark.parametrize(
    ("changed", "same"),
    [({"samples": 100}, False), ({"period_s": 0.2}, False), ({"seeds": 3}, True), ({"scales": (8,)}, True)],
)
def test_runs_are_those_of_their_settings_whichever_of_them_are_asked_for(changed: dict[str, Any], same: bool) -> None:
    asked = [ClimbersBenchSettings.of(each) for each in ({}, changed)]
    first, second = (digest_of(settings, climbers.WHICH_RUNS) for settings in asked)
    assert (first == second) is same
