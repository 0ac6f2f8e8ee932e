"""An evaluation goes on where it was stopped, measures again what was changed, and survives a workload that fails."""

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.pipelines.evaluate.live.test_workload_files import MARIADB, SIMULATED, changed, written

from poolpilot.agent.controllers.warm_start import MARIADB_WARM_START
from poolpilot.env.climbing.spectral import ClimbSettings
from poolpilot.errors import ServerError, SettingError
from poolpilot.pipelines.evaluate.live import live_evaluate
from poolpilot.pipelines.evaluate.live.judging.live_result import DEFAULT, LiveResult, MethodRun
from poolpilot.pipelines.evaluate.live.live_evaluate import WorkloadFilesSettings, evaluate_files
from poolpilot.pipelines.evaluate.live.live_methods import OpenMethod
from poolpilot.pipelines.evaluate.live.live_report import LiveReport
from poolpilot.pipelines.evaluate.live.live_run import LiveRunSettings
from poolpilot.pipelines.evaluate.live.method_settings import MariadbPace, MethodSettings
from poolpilot.pipelines.evaluate.live.whole_cycles import methods_in_cycles, run_in_cycles
from poolpilot.pipelines.evaluate.stage import Stage

CONSTANT = MethodSettings(names=("constant_best",))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the workloads that were measured, which takes no time here; one called `broken` fails."""
    names: list[str] = []

    def run(
        stage: Stage, methods: Mapping[str, OpenMethod], settings: LiveRunSettings, _on_step: Callable[[str], None]
    ) -> LiveResult:
        assert set(methods) == {"constant_best"}
        assert settings.budget_s == (30.0 if stage.on_mariadb else 15.0)
        if stage.name == "broken":
            raise SettingError("it is for another machine")
        names.append(stage.name)
        run = MethodRun(DEFAULT, (2, 3, 500), 1.0, 0.0, 1.0, {}, None, {}, {})
        return LiveResult(stage.name, stage.family, (run,), censored="it is planted")

    monkeypatch.setattr(live_evaluate, "run_workload", run)
    return names


def evaluated(folder: Path, **settings: Any) -> LiveReport:
    given = WorkloadFilesSettings(methods=CONSTANT, **settings)
    return evaluate_files(folder, None, given, Console(file=io.StringIO()))


def test_what_is_finished_is_taken_up_and_what_was_changed_is_measured_again(
    tmp_path: Path, measured: list[str]
) -> None:
    folder, runs = tmp_path / "files", tmp_path / "runs.jsonl"
    folder.mkdir()
    written(folder, SIMULATED, "a")
    written(folder, SIMULATED, "b")
    assert len(evaluated(folder, runs=runs).results) == 2
    written(folder, changed(connections=48), "b")
    report = evaluated(folder, runs=runs)
    assert measured == ["a", "b", "b"]
    assert [result.workload for result in report.results] == ["a", "b"]


def test_runs_of_another_folder_are_none_of_this_one(tmp_path: Path, measured: list[str]) -> None:
    here, there, runs = tmp_path / "here", tmp_path / "there", tmp_path / "runs.jsonl"
    for folder, name in ((here, "a"), (there, "broken")):
        folder.mkdir()
        written(folder, SIMULATED, name)
    evaluated(here, runs=runs)
    with pytest.raises(ServerError, match="none of the workloads"):
        evaluated(there, runs=runs)
    assert measured == ["a"]


def test_workload_that_fails_is_left_out_with_its_reason_and_the_others_are_kept(
    tmp_path: Path, measured: list[str]
) -> None:
    for name in ("a", "broken", "c"):
        written(tmp_path, SIMULATED, name)
    report = evaluated(tmp_path, runs=tmp_path / "runs.jsonl")
    assert measured == ["a", "c"]
    assert report.left_out.workloads == {"broken": "it is for another machine"}
    assert [json.loads(line)["workload"] for line in (tmp_path / "runs.jsonl").read_text().splitlines()] == ["a", "c"]


def test_load_that_repeats_itself_has_windows_and_seconds_of_whole_cycles() -> None:
    run = run_in_cycles(LiveRunSettings(), 4.0)
    methods = methods_in_cycles(MethodSettings(), 4.0)
    for seconds in (run.sweep.window_s, run.paired.measurement.window_s, run.period_s, methods.measurement.window_s):
        assert seconds == pytest.approx(4.0)
    assert methods.warm_start.measurement.window_s == pytest.approx(4.0)
    assert methods.climb.period_s == pytest.approx(4.0)
    adapted = MethodSettings(climb=ClimbSettings(longest_period_s=0.5))
    assert methods_in_cycles(adapted, 4.0).climb.longest_period_s == pytest.approx(4.0)
    assert run.budget_s == pytest.approx(24.0)
    assert run_in_cycles(LiveRunSettings(), 0.0) == LiveRunSettings()
    assert methods_in_cycles(MethodSettings(), 0.0) == MethodSettings()


def test_mariadb_is_paced_as_climb_paces_it(tmp_path: Path, measured: list[str]) -> None:
    written(tmp_path, MARIADB, "mine")
    written(tmp_path, SIMULATED, "other")
    assert len(evaluated(tmp_path).results) == len(measured) == 2
    paced = MethodSettings().on_mariadb(MariadbPace())
    assert paced.warm_start == MARIADB_WARM_START
    assert paced.measurement == MARIADB_WARM_START.measurement
    assert paced.climb.period_s == 0.5


def test_what_was_measured_by_another_release_or_with_another_model_is_measured_again(
    tmp_path: Path, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, runs = tmp_path / "files", tmp_path / "runs.jsonl"
    folder.mkdir()
    written(folder, SIMULATED, "a")
    evaluated(folder, runs=runs)
    monkeypatch.setattr(live_evaluate, "program", lambda: "poolpilot of another day")
    evaluated(folder, runs=runs)
    evaluated(folder, runs=runs)
    assert measured == ["a", "a"]
