"""The whole demonstration, shortened, on live pools with the shipped champion."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from poolpilot.env.measurement.protocol import MeasurementSettings
from poolpilot.errors import ArtefactError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.models.advice.prediction import Prediction
from poolpilot.pipelines.demo.demo_report import foreign_story, reasons_of, story_of, workload_table
from poolpilot.pipelines.demo.demo_settings import DemoSettings
from poolpilot.serve.commands.look.demo_command import demo

QUICK = MeasurementSettings(
    settle_s=0.0, max_settle_s=0.0, window_s=0.05, window_ticks=0.0, keep_shares=(0.2,), oracle_repeats=0
)
METHODS = {"oracle", "default", "sbs", "cold", "predicted"}
COMMON = {"tuple", "goodput", "p99_ms", "threads", "regret"}


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    demo(
        DemoSettings(seed=5, output=folder, horizon_s=3.0, racing=QUICK, judged_repeats=2, judged_window_s=0.1),
        folder / "copy.json",
    )
    return folder


@pytest.fixture(scope="module")
def report(output: Path) -> dict[str, Any]:
    values = json.loads((output / "report.json").read_text())
    assert isinstance(values, dict)
    return values


def test_report_has_the_documented_fields(report: dict[str, Any]) -> None:
    assert report.keys() == {"seed", "noise", "horizon_s", "workloads"}
    assert (report["seed"], report["horizon_s"]) == (5, 3.0)
    assert report["noise"] >= 0.0
    assert len(report["workloads"]) == 3
    for workload in report["workloads"]:
        assert workload.keys() == METHODS | {"name", "under_others_best"}
        for method in METHODS:
            assert workload[method].keys() >= COMMON
        assert workload["cold"].keys() == COMMON | {"time_to_95_s", "lost"}
        assert workload["predicted"].keys() >= COMMON | {"time_to_95_s", "lost", "abstained"}


def test_each_workload_is_judged_under_the_best_tuple_of_every_other(report: dict[str, Any]) -> None:
    best = {workload["name"]: workload["oracle"]["tuple"] for workload in report["workloads"]}
    for workload in report["workloads"]:
        others = workload["under_others_best"]
        assert others.keys() == best.keys() - {workload["name"]}
        assert all(regret == 0.0 for name, regret in others.items() if best[name] == workload["oracle"]["tuple"])
        foreign = [regret for name, regret in others.items() if best[name] != workload["oracle"]["tuple"]]
        assert not foreign or any(regret != 0.0 for regret in foreign)


def test_what_others_best_tuples_cost_is_told_by_its_worst() -> None:
    workloads = [
        {"name": "latch", "under_others_best": {"pages": 0.874, "reports": 0.2}},
        {"name": "pages", "under_others_best": {"latch": -0.01}},
    ]
    told = "Under the best configuration of another workload they lose: latch up to 87 %, pages up to 0 %."
    assert foreign_story({"workloads": workloads}) == told


def compared(**predicted: Any) -> dict[str, Any]:
    """The part of a report about one workload of large figures."""
    row = {"tuple": [8, 3, 10], "goodput": 38_800.0, "p99_ms": 1234.5, "threads": 128.0, "regret": 0.0}
    way = {"time_to_95_s": None, "lost": 987_654.0}
    return {
        "name": "joins_beside-64-1000001",
        "default": {**row, "tuple": [128, 16, 500], "regret": 0.999},
        "sbs": {**row, "regret": -0.105},
        "cold": {**row, **way},
        "predicted": {**row, **way, "abstained": False, "reasons": ["the CPU is idle"], **predicted},
        "oracle": row,
    }


def test_table_fits_into_80_columns() -> None:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(workload_table(compared(), 45.0))
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert max(map(len, lines)) <= 80
    assert any("warm_start" in line and "987654" in line for line in lines)


@pytest.mark.parametrize(
    ("predicted", "says"),
    [
        (
            {"tuple": [64, 3, 10], "goodput": 39_000.0, "regret": 0.029},
            "charges for a larger pool, 64 groups",
        ),
        ({"tuple": [8, 3, 500], "goodput": 39_000.0, "regret": 0.029}, "weighs its worse windows more"),
        ({"tuple": [8, 3, 500], "goodput": 39_000.0, "regret": -0.01}, "best in a sweep of few windows"),
    ],
)
def test_prediction_beyond_the_oracle_is_explained(predicted: dict[str, Any], says: str) -> None:
    told = story_of(compared(**predicted))
    assert "It answered more than the oracle, 39000 against 38800 a second" in told
    assert says in told


@pytest.mark.parametrize(
    "predicted", [{}, {"tuple": [64, 3, 10], "goodput": 1.0, "regret": 0.9}, {"goodput": 39_000.0, "regret": 0.0}]
)
def test_nothing_is_explained_where_the_oracle_is_best_or_what_was_found(predicted: dict[str, Any]) -> None:
    assert "oracle" not in story_of(compared(**predicted))


def test_figures_are_those_of_a_pool_that_worked(report: dict[str, Any]) -> None:
    for workload in report["workloads"]:
        assert workload["oracle"]["regret"] == 0.0
        assert workload["default"]["tuple"][1:] == [3, 500]
        assert workload["oracle"]["goodput"] > 1.0
        assert all(workload[method]["threads"] >= 1.0 for method in METHODS)
        assert workload["predicted"]["lost"] >= 0.0
        assert workload["predicted"]["reasons"]


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
    run = SimpleNamespace(
        predictions=predictions, predicted=SimpleNamespace(final_tuple=PoolTuple(2, 3, 500), steps=[step])
    )
    assert reasons_of(run) == [says]  # type: ignore[arg-type]
