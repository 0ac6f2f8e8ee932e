"""The table names the workloads that judge nobody, and says how often a choice is judged by what was seen."""

import io

import pytest
from rich.console import Console

from poolpilot.pipelines.evaluate.evaluation import Evaluation, EvaluationSettings
from poolpilot.pipelines.evaluate.evaluation_tables import evaluation_table
from poolpilot.pipelines.evaluate.statistics.outcomes import Headroom, Outcome


def outcome(method: str, regret: float, *, seen: bool = False) -> Outcome:
    return Outcome("a-1", "a", "default", method, (1, 3, 500), 0.0, regret, judged_by_seen=seen)


@pytest.fixture
def shown() -> str:
    """The table of one workload, with another one left out, as a terminal shows it."""
    evaluation = Evaluation(
        "test",
        {"sbs": [outcome("sbs", 0.3)], "refined": [outcome("refined", 0.1, seen=True)]},
        {"a-1": Headroom(0.0, 1.0, 0.1)},
        EvaluationSettings(resamples=100),
        {"b-1": "the reference differs from itself by +45% when measured afresh"},
        {"a-1": "light"},
    )
    console = Console(file=io.StringIO(), width=140)
    console.print(evaluation_table(evaluation))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_workloads_left_out_stand_below_the_table(shown: str) -> None:
    assert "1 workloads of 1 families, split test" in shown
    assert shown.splitlines()[-1].startswith("b-1 is left out: the reference differs from itself by +45%")


def test_methods_stand_in_the_order_of_their_regret_with_what_was_seen(shown: str) -> None:
    table = shown.split("Median regret by")[0]
    rows = [line.split() for line in table.splitlines() if line.lstrip().startswith(("refiner", "sbs"))]
    assert [row[0] for row in rows] == ["refiner", "sbs"]
    assert rows[0][6] == "100.0"
    assert rows[1][6] == "0.0"
    assert "few families" in shown


def test_a_second_table_has_the_regret_by_load(shown: str) -> None:
    table = shown.split("Median regret by")[1]
    rows = [line.split() for line in table.splitlines() if line.lstrip().startswith(("refiner", "sbs"))]
    assert sorted(rows) == [["refiner", "10.0", "-", "-"], ["sbs", "30.0", "-", "-"]]
    assert "light (1)" in table
    assert "full (0)" in table
