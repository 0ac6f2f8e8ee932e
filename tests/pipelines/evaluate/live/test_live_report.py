"""A live evaluation censors what does not repeat, states intervals only of enough families, and survives a stop."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mlflow.exceptions import MlflowException
from rich.console import Console
from typer.testing import CliRunner

from poolpilot.errors import ServerError
from poolpilot.pipelines.evaluate.live.judging.live_result import LiveResult, MethodRun
from poolpilot.pipelines.evaluate.live.live_report import LeftOut, LiveReport
from poolpilot.pipelines.evaluate.live.live_tables import cost_table, value_table
from poolpilot.serve.commands.main import build

pytestmark = [
    pytest.mark.filterwarnings("ignore:The ``noload``"),  # SQLAlchemy warns of what MLflow still uses
    pytest.mark.filterwarnings("ignore:Operation with range is deprecated"),  # pandas warns of what MLflow does
]


def run(method: str, value: float, share: float, **values: Any) -> MethodRun:
    ratios = {"p99_ratio": {"short": 2.0, "long": 0.5}, "class_share": {"short": 1.1, "long": 0.25}}
    return MethodRun(method, (2, 3, 500), value, 0.01, share, {"short": 5.0}, 8.0, **{**ratios, **values})


def result(name: str, value: float, *, repeats: bool = True, noise: float = 0.0) -> LiveResult:
    way = {"tries": 3, "on_the_way": 0.8, "unsafe": 0.1, "trying_s": 4.0, "trying_regret": 0.3}
    runs = (run("reference", 1.0, 1.0), run("good_2", value, 0.95, **way))
    return LiveResult(name, name, runs, ("long",), noise, 0.01, None if repeats else "it does not repeat")


def test_regret_is_taken_against_the_reference_measured_afresh() -> None:
    statistics = LiveReport([result("a", 1.0), result("b", 0.9)]).statistics("good_2")
    assert statistics["regret_mean"] == pytest.approx((1.0 - 0.904837) / 2, abs=1e-4)
    assert (statistics["tries"], statistics["on_the_way"], statistics["unsafe"]) == (3.0, 0.8, 0.1)


def test_regret_is_told_by_load_where_loads_are_known() -> None:
    light, full = replace(result("a", 1.0), load="light"), replace(result("b", 0.9), load="full")
    report = LiveReport([light, full, result("c", 0.5)])
    assert report.as_dict()["by_load"] == {
        "light": {"workloads": 1, "regret_mean": {"reference": 0.0, "good_2": 0.0}},
        "full": {"workloads": 1, "regret_mean": {"reference": 0.0, "good_2": pytest.approx(0.0952, abs=1e-4)}},
    }
    assert "Mean regret by load" in shown(report)
    assert "Mean regret by load" not in shown(LiveReport([result("a", 1.0)]))
    assert LiveResult.from_dict(json.loads(json.dumps(light.as_dict()))) == light


def test_what_does_not_repeat_is_censored_and_counted() -> None:
    report = LiveReport([result("a", 1.0), result("b", -5.0, repeats=False)])
    assert report.statistics("good_2")["regret_mean"] == pytest.approx(0.0)
    assert report.as_dict()["censored"] == {"b": "it does not repeat"}
    assert "1 censored" in shown(report)
    assert "b: it does not repeat" in shown(report)
    assert LiveReport([result("b", 1.0, repeats=False)]).statistics("good_2") == {}


def shown(report: LiveReport) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(report.table())
    return console.export_text()


def test_long_class_that_the_default_starves_says_nothing_of_what_is_kept() -> None:
    """Before, a choice kept none of it, whatever it gave."""
    runs = (run("reference", 1.0, 1.0), run("good_2", 0.9, 0.95, class_share={"short": 1.1}))
    starved = LiveResult("b", "b", runs, ("long",), 0.0, 0.01, None)
    assert LiveReport([result("a", 1.0), starved]).statistics("good_2")["long_share"] == 0.25


def test_classes_are_told_apart_by_how_long_they_are() -> None:
    statistics = LiveReport([result("a", 1.0), result("b", 0.9)]).statistics("good_2")
    assert statistics["p99_ratio_short"] == pytest.approx(2.0)
    assert statistics["p99_ratio_long"] == pytest.approx(0.5)
    assert (statistics["long_share"], statistics["with_long_classes"]) == (0.25, 2)
    assert (statistics["trying_s"], statistics["trying_regret"]) == (4.0, 0.3)


def test_noise_floor_is_signed_and_has_an_interval() -> None:
    results = [result(name, 1.0, noise=noise) for name, noise in (("a", -0.02), ("b", -0.01), ("c", 0.0))]
    noise = LiveReport(results, resamples=200).noise()
    assert noise["mean"] == pytest.approx(-0.01)
    assert noise["low"] < -0.01 < noise["high"]
    assert "differs by -1.0%" in shown(LiveReport(results, resamples=200))


def test_what_each_trial_buys_has_a_table_of_its_own() -> None:
    report = LiveReport([result("a", 1.0), result("b", 0.9)])
    assert report.as_dict()["tries"] == {"good": {"2": report.statistics("good_2")["regret_mean"]}}
    assert "Mean regret by the number of trials" in shown(report)


def test_where_no_method_tries_there_is_no_table_of_trials() -> None:
    alone = LiveResult("a", "a", (run("reference", 1.0, 1.0), run("advise", 0.9, 0.9)), (), 0.0, 0.01, None)
    report = LiveReport([alone])
    assert report.as_dict()["tries"] == {}
    assert "number of trials" not in shown(report)


def test_what_was_left_out_is_said() -> None:
    left_out = LeftOut({"c": "it would not start"}, {"trees": "nothing to learn from"})
    report = LiveReport([result("a", 1.0)], left_out=left_out)
    assert report.as_dict()["left_out"] == {"workloads": left_out.workloads, "methods": left_out.methods}
    assert "c is left out: it would not start" in shown(report)


def test_tables_are_whole_at_eighty_columns() -> None:
    lines = shown(LiveReport([result("a", 1.0), result("b", 0.9), result("c", 0.8)], resamples=200)).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)


def test_long_names_and_wide_intervals_stand_whole_at_eighty_columns() -> None:
    row = LiveReport([result("a", 1.0), result("b", 0.9), result("c", 0.8)], resamples=200).statistics("good_2")
    worst = {**row, "regret_mean": 0.296, "regret_mean_low": -0.429, "regret_mean_high": 1.002, "trying_s": 14.2}
    console = Console(width=80, record=True, file=io.StringIO())
    for table in (value_table({"latent_bandit_3": worst}, 4, 0), cost_table({"latent_bandit_3": worst}, {})):
        console.print(table)
    told = console.export_text()
    assert told.count("latent_bandit_3") == 2
    assert "-42.9..100.2%" in told
    assert "…" not in told


def test_two_families_have_no_interval() -> None:
    assert LiveReport([result("a", 1.0), result("b", 0.9)]).statistics("good_2")["regret_mean_low"] is None
    three = LiveReport([result("a", 1.0), result("b", 0.9), result("c", 0.8)], resamples=200).statistics("good_2")
    assert three["regret_mean_low"] <= three["regret_mean"] <= three["regret_mean_high"]


METHODS = ("constant_best", "portfolio_1", "latent_bandit_1")

QUICK = f"""
[files.methods]
names = {json.dumps(METHODS)}
trials = [1]
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


def test_command_evaluates_files_that_somebody_wrote_and_goes_on_after_a_stop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    command = ["evaluate", *flags, "--set", f"files.runs={runs}", "--json", str(report)]
    first = CliRunner().invoke(build(), command, env={"COLUMNS": "120"}, catch_exceptions=False)
    assert first.exit_code == 0, first.output
    assert "latent_bandit_1" in first.output
    said = json.loads(report.read_text(encoding="utf-8"))
    assert [one["workload"] for one in said["results"]] == ["on_1", "on_3"]
    assert set(said["methods"]) == {*METHODS, "default", "default_again", "reference"}
    lines = runs.read_text(encoding="utf-8").splitlines()
    runs.write_text(lines[1] + "\n", encoding="utf-8")
    again = CliRunner().invoke(build(), command, env={"COLUMNS": "120"}, catch_exceptions=False)
    assert again.exit_code == 0, again.output
    assert json.loads(report.read_text(encoding="utf-8"))["results"] == said["results"]
    report.unlink()
    monkeypatch.setattr("mlflow.log_text", refused)
    told = CliRunner().invoke(build(), command, env={"COLUMNS": "120"})
    assert isinstance(told.exception, ServerError)
    assert json.loads(report.read_text(encoding="utf-8"))["results"] == said["results"], "before, it was lost"


def refused(*_: object) -> None:
    raise MlflowException("no space left")
