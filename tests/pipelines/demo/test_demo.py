"""The whole demonstration, shortened, on live pools with the shipped champion."""

import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.errors import ArtefactError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.prediction import Prediction
from poolpilot.pipelines.demo.demo_comparison import LEAST_ROUNDS
from poolpilot.pipelines.demo.demo_report import foreign_story, reasons_of, story_of, workload_table
from poolpilot.pipelines.demo.demo_schedule import LEAST_HORIZON_S, DemoSchedule
from poolpilot.pipelines.demo.demo_settings import DemoSettings
from poolpilot.serve.commands.observe.demo_command import demo

METHODS = {"best", "default", "sbs", "cold", "warm_start"}
COMMON = {"tuple", "goodput", "p99_ms", "threads", "regret", "error", "told_apart"}
ABOUT = {"name", "horizon_s", "rounds", "windows_left", "under_others_best"}


class QuickDemo(DemoSettings):
    """The demonstration with short windows."""

    @property
    def schedule(self) -> DemoSchedule:
        """Windows too short to say much."""
        short = MeasurementSettings(settle_s=0.0, max_settle_s=0.0, window_s=0.05, window_ticks=0.0)
        return replace(super().schedule, racing=short, judged=short)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    demo(QuickDemo(seed=5, output=folder, seconds=15.0), folder / "copy.json")
    return folder


@pytest.fixture(scope="module")
def report(output: Path) -> dict[str, Any]:
    values = json.loads((output / "report.json").read_text())
    assert isinstance(values, dict)
    return values


def test_report_has_the_documented_fields(report: dict[str, Any]) -> None:
    assert report.keys() == {"seed", "noise", "workloads"}
    assert report["seed"] == 5
    assert report["noise"] >= 0.0
    assert len(report["workloads"]) == 3
    for workload in report["workloads"]:
        assert workload.keys() == METHODS | ABOUT
        assert all(workload[method].keys() >= COMMON for method in METHODS)
        assert workload["cold"].keys() == COMMON | {"time_to_95_s", "lost"}
        assert workload["warm_start"].keys() == workload["cold"].keys() | {"abstained", "reasons"}


def test_short_time_measures_less_and_says_so(report: dict[str, Any]) -> None:
    """The climbs use a third of fifteen seconds up, so the sweep is cut; the comparison has three rounds at least."""
    for workload in report["workloads"]:
        assert workload["horizon_s"] == LEAST_HORIZON_S
        assert workload["windows_left"] > 0
        assert workload["rounds"] == LEAST_ROUNDS
        assert "Time was short: the sweep lacks" in story_of(workload)


def test_the_best_is_the_best_of_all_that_were_compared(report: dict[str, Any]) -> None:
    for workload in report["workloads"]:
        rows = [workload[method] for method in METHODS]
        assert min(row["regret"] for row in rows) == 0.0 == workload["best"]["regret"]
        assert not workload["best"]["told_apart"]


def test_each_workload_is_judged_under_the_best_configuration_of_every_other(report: dict[str, Any]) -> None:
    names = {workload["name"] for workload in report["workloads"]}
    for workload in report["workloads"]:
        assert workload["under_others_best"].keys() == names - {workload["name"]}
        assert all(0.0 <= regret <= 1.0 for regret in workload["under_others_best"].values())


def test_what_others_best_tuples_cost_is_told_by_its_worst() -> None:
    workloads = [
        {"name": "latch", "under_others_best": {"pages": 0.874, "reports": 0.2}},
        {"name": "pages", "under_others_best": {"latch": 0.0}},
    ]
    told = "Under the best configuration of another workload they lose: latch up to 87 %, pages up to 0 %."
    assert foreign_story({"workloads": workloads}) == told


def compared(**changed: dict[str, Any]) -> dict[str, Any]:
    """The part of a report about one workload of large figures."""
    row = {"tuple": [8, 3, 10], "goodput": 38_800.0, "p99_ms": 1234.5, "threads": 128.0}
    row |= {"regret": 0.105, "error": 0.01, "told_apart": False}
    way = {"time_to_95_s": None, "lost": 987_654.0}
    parts: dict[str, dict[str, Any]] = {
        "default": {**row, "tuple": [128, 16, 500], "regret": 0.999, "told_apart": True},
        "sbs": row,
        "cold": {**row, **way},
        "warm_start": {**row, **way, "abstained": False, "reasons": ["the CPU is idle"]},
        "best": {**row, "regret": 0.0},
    }
    parts = {name: part | changed.get(name, {}) for name, part in parts.items()}
    return {"name": "joins_beside-64-1000001", "horizon_s": 45.0, "rounds": 3, "windows_left": 0, **parts}


def test_table_fits_into_80_columns() -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(workload_table(compared()))
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert len(lines) == 4 + len(METHODS)
    assert any(line.startswith("warm start") and "not told apart" in line and "> 45" in line for line in lines)
    assert any(line.startswith("default") and "99.9 %" in line for line in lines)


LEFT = {"tuple": [128, 16, 500]}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({}, "It set (8, 3, 10) in place of the default (128, 16, 500). Goodput 38800 -> 38800 a second"),
        ({"warm_start": {"abstained": True}}, "It gave no advice, so it climbed from the default to (8, 3, 10)."),
        ({"warm_start": LEFT}, "It left the default, which loses 99.9 % here."),
        (
            {"warm_start": LEFT, "default": {"regret": 0.0, "told_apart": False}},
            "It left the default, which is best here.",
        ),
        ({"warm_start": LEFT, "default": {"told_apart": False}}, "does not tell the best apart from it."),
        (
            {"warm_start": {"tuple": [64, 3, 10], "goodput": 39_000.0, "told_apart": True}},
            "the objective charges for 64 groups",
        ),
    ],
)
def test_what_it_did_is_said_as_it_was(changed: dict[str, dict[str, Any]], says: str) -> None:
    said = story_of(compared(**changed))
    assert says in said
    assert "Why: the CPU is idle." in said
    assert ("charges" in said) == ("charges" in says)


def test_figures_are_those_of_a_pool_that_worked(report: dict[str, Any]) -> None:
    for workload in report["workloads"]:
        assert workload["default"]["tuple"][1:] == [3, 500]
        assert workload["best"]["goodput"] > 1.0
        assert all(workload[method]["threads"] >= 1.0 for method in METHODS)
        assert workload["warm_start"]["lost"] >= 0.0
        assert workload["warm_start"]["reasons"]


def test_pictures_and_the_copy_are_written(output: Path, report: dict[str, Any]) -> None:
    pictures = sorted(path.name for path in output.glob("*.png"))
    assert pictures == ["hot_counter.png", "page_faults.png", "reports.png"]
    assert all((output / name).read_bytes().startswith(b"\x89PNG") for name in pictures)
    assert json.loads((output / "copy.json").read_text()) == report


def test_missing_model_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="model"):
        demo(DemoSettings(output=tmp_path, model=tmp_path / "nowhere"))


def told(pool_size: int, *, in_force: int = 2, abstained: bool = False) -> Prediction:
    named, held = PoolTuple(pool_size, 3, 10), PoolTuple(in_force, 3, 500)
    return Prediction(held if abstained else named, held, abstained, ("because",), "digest")


@pytest.mark.parametrize(
    ("predictions", "says"),
    [
        ([told(32), told(64), told(32)], "it was better than what was tried, (32, 3, 10), (64, 3, 10)"),
        ([told(32, abstained=True)], "because"),
    ],
)
def test_ending_where_it_began_is_explained_by_what_was_tried(predictions: list[Prediction], says: str) -> None:
    step = SimpleNamespace(pool_tuple=PoolTuple(2, 3, 500))
    run = SimpleNamespace(predictions=predictions, warm=SimpleNamespace(final_tuple=PoolTuple(2, 3, 500), steps=[step]))
    assert reasons_of(run) == [says]  # type: ignore[arg-type]
