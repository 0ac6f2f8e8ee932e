"""A live evaluation censors what does not repeat, states intervals only of enough families, and survives a stop."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from poolpilot.pipelines.evaluate.live.live_report import LiveReport
from poolpilot.pipelines.evaluate.live.live_run import LiveResult, MethodRun
from poolpilot.serve.commands.main import build

pytestmark = [
    pytest.mark.filterwarnings("ignore:The ``noload``"),  # SQLAlchemy warns of what MLflow still uses
    pytest.mark.filterwarnings("ignore:Operation with range is deprecated"),  # pandas warns of what MLflow does
]


def run(method: str, value: float, share: float, **values: Any) -> MethodRun:
    return MethodRun(method, (2, 3, 500), value, 0.01, share, {"all": 5.0}, 8.0, **values)


def result(name: str, value: float, *, repeats: bool = True) -> LiveResult:
    runs = (run("reference", 1.0, 1.0), run("good", value, 0.95, tries=3, on_the_way=0.8, unsafe=0.1))
    return LiveResult(name, name, runs, repeats)


def test_regret_is_taken_against_the_reference_measured_afresh() -> None:
    statistics = LiveReport([result("a", 1.0), result("b", 0.9)]).statistics("good")
    assert statistics["regret_mean"] == pytest.approx((1.0 - 0.904837) / 2, abs=1e-4)
    assert (statistics["tries"], statistics["on_the_way"], statistics["unsafe"]) == (3.0, 0.8, 0.1)


def test_what_does_not_repeat_is_censored_and_counted() -> None:
    report = LiveReport([result("a", 1.0), result("b", -5.0, repeats=False)])
    assert report.statistics("good")["regret_mean"] == pytest.approx(0.0)
    assert report.as_dict()["censored"] == ["b"]
    assert "1 censored" in str(report.table().title)
    assert LiveReport([result("b", 1.0, repeats=False)]).statistics("good") == {}


def test_two_families_have_no_interval() -> None:
    assert LiveReport([result("a", 1.0), result("b", 0.9)]).statistics("good")["regret_mean_low"] is None
    three = LiveReport([result("a", 1.0), result("b", 0.9), result("c", 0.8)], resamples=200).statistics("good")
    assert three["regret_mean_low"] <= three["regret_mean"] <= three["regret_mean_high"]


QUICK = """
[files.methods]
tries = [1]
[files.methods.measurement]
settle_s = 0.02
window_s = 0.1
[files.run]
budget_s = 1.0
[files.run.grid]
sizes = [1, 8]
multiples = [1.0]
oversubscribes = [3]
timer_intervals_ms = [10]
[files.run.sweep]
settle_s = 0.02
window_s = 0.1
[files.run.paired]
most_rounds = 2
[files.run.paired.measurement]
settle_s = 0.02
window_s = 0.1
"""


def test_command_evaluates_files_that_somebody_wrote_and_goes_on_after_a_stop(tmp_path: Path) -> None:
    folder = tmp_path / "workloads"
    folder.mkdir()
    steps = [{"op": "cpu", "us": 200.0}, {"op": "wait", "us": 3000.0}]
    for cpus in (1, 3):
        values = {
            "server": "simulated",
            "workload": {"classes": [{"name": "all", "steps": steps}], "connections": 16, "cpus": cpus},
        }
        (folder / f"on_{cpus}.json").write_text(json.dumps(values), encoding="utf-8")
    config, runs, report = tmp_path / "quick.toml", tmp_path / "runs.jsonl", tmp_path / "report.json"
    config.write_text(QUICK, encoding="utf-8")
    flags = ["--workloads", str(folder), "--config", str(config), "--tracking", str(tmp_path / "tracking")]
    command = ["evaluate", *flags, "--files.runs", str(runs), "--json", str(report)]
    first = CliRunner().invoke(build(), command, env={"COLUMNS": "120"}, catch_exceptions=False)
    assert first.exit_code == 0, first.output
    assert "latent_bandit_1" in first.output
    said = json.loads(report.read_text(encoding="utf-8"))
    assert [one["workload"] for one in said["results"]] == ["on_1", "on_3"]
    lines = runs.read_text(encoding="utf-8").splitlines()
    runs.write_text(lines[1] + "\n", encoding="utf-8")
    again = CliRunner().invoke(build(), command, env={"COLUMNS": "120"}, catch_exceptions=False)
    assert again.exit_code == 0, again.output
    assert json.loads(report.read_text(encoding="utf-8"))["results"] == said["results"]
