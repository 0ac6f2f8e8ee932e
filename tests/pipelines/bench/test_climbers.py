"""`poolpilot bench climbers` compares, shows the table and writes it for machines."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.pipelines.bench.climbing.conftest import NoSuite

from poolpilot.errors import SettingError
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
from poolpilot.pipelines.bench.climbing.score import Score
from poolpilot.pipelines.bench.climbing.server_suite import NativeSuite, SimulatedSuite
from poolpilot.pipelines.bench.climbing.suite import Run, Suite
from poolpilot.pipelines.bench.climbing.summary import Comparison
from poolpilot.pipelines.kept_runs import digest_of
from poolpilot.serve.commands.observe.bench_climbers_command import run

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
    ("wrong", "sentence"),
    [
        ({"scales": ["8", "0"]}, r"setting 'scales\.1': .* greater than or equal to 2; it is '0'"),
        ({"scales": (-3,)}, r"'scales\.0': .*; it is -3"),
        ({"scales": (100_001,)}, r"'scales\.0': .* less than or equal to 100000"),
        ({"shift_scales": (32, 1)}, r"'shift_scales\.1': .* greater than or equal to 2"),
        ({"noises": (0.1, -0.1)}, r"'noises\.1': .* greater than or equal to 0"),
        ({"noises": (1.5,)}, r"'noises\.0': .* less than or equal to 1"),
        ({"noises": ["nan"]}, r"'noises\.0': .* finite"),
        ({"correlated_noise": float("nan")}, "'correlated_noise': .* finite"),
        ({"correlated_noise": float("inf")}, "'correlated_noise': .* (finite|less than)"),
        ({"margin": float("nan")}, "'margin': .* finite"),
        ({"period_s": float("inf")}, "'period_s': .* finite"),
    ],
)
def test_each_value_of_a_list_has_its_range(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SettingError, match=sentence):
        ClimbersBenchSettings.load(None, wrong)


def test_smallest_and_largest_values_make_cells() -> None:
    settings = ClimbersBenchSettings(scales=(2, 100_000), shift_scales=(2,), noises=(0.0, 1.0), correlated_noise=1.0)
    assert suite_of(settings).tasks()


@pytest.mark.parametrize(("seeds", "shown"), [(1, "-"), (2, r"-?\d+\.\d\d \.\. \d+\.\d\d")])
def test_one_repeat_has_no_interval(seeds: int, shown: str) -> None:
    """Before, it was shown from the difference to the difference, as if that were certain."""
    lost = {"spectral": [0.4, 0.41][:seeds], "dotnet": [0.1, 0.13][:seeds]}
    scores = {name: [Score(one, one, None, one, 1.5, 4, 1) for one in shares] for name, shares in lost.items()}
    comparison = Comparison(NoSuite(), {"a": scores}, margin=0.02)
    (row,) = comparison.as_dict()["losing"]
    assert (row["low"] is None, row["high"] is None) == (seeds == 1, seeds == 1)
    (interval,) = losing_table(comparison).columns[3].cells
    assert re.fullmatch(shown, str(interval))
    assert str(losing_table(comparison).title).startswith("1 comparisons lost to ancestors, 1 of them")


@pytest.mark.parametrize(
    ("changed", "same"),
    [({"samples": 100}, False), ({"period_s": 0.2}, False), ({"seeds": 3}, True), ({"scales": (8,)}, True)],
)
def test_runs_are_those_of_their_settings_whichever_of_them_are_asked_for(changed: dict[str, Any], same: bool) -> None:
    asked = [ClimbersBenchSettings.of(each) for each in ({}, changed)]
    first, second = (digest_of(settings, climbers.WHICH_RUNS) for settings in asked)
    assert (first == second) is same
