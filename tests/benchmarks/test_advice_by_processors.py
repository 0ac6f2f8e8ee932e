"""What is counted of advice: how often it speaks, what it gains, and whether that is within what it stated."""

import math
from typing import Any

import pytest

from experiments.advice_by_processors import CPUS, as_told, known, looked, measured, summary
from harness.experiment import Task
from page_tables.advice_table import advice_table
from poolpilot.env.servers.simulated_measurement import SimulatedMeasurement
from poolpilot.env.workloads.composed import chooses
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import Model
from poolpilot.models.latent.response_curves import ResponseCurves
from poolpilot.models.latent.shipped_curves import load_curves
from rivals.scenarios import ScenarioWindows, scenarios_of


def look(
    verdict: str, gain: float, low: float | None = None, high: float | None = None, by: str = "curves"
) -> dict[str, Any]:
    return {"verdict": verdict, "gain": gain, "low": low, "high": high, "by": by, "composition": f"{gain}"}


LOOKS = [
    look("change", 0.5, 0.1, 0.9),
    look("change", 0.3, 0.4, 0.9, "network"),
    look("change", -0.2, -0.3, 0.9),
    look("leave it", 0.0),
    look("no advice", 0.0),
]


def test_changes_are_counted_and_held_against_what_they_stated() -> None:
    found = summary(LOOKS)
    assert [found[name] for name in ("workloads", "change", "leave it", "no advice")] == [5, 3, 1, 1]
    assert found["gain"] == pytest.approx(0.2)
    assert (found["lose"], found["more"]) == (1, 0)
    assert found["curves"] == {"stated": 2, "within": 2, "below": 0, "lose": 1}
    assert found["network"] == {"stated": 1, "within": 0, "below": 1, "lose": 0}


def test_the_table_has_a_line_for_each_machine() -> None:
    lines = advice_table({"rows": [{"cpus": 4, **summary(LOOKS)}, {"cpus": 64, **summary([])}]})
    _, _, four, none = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines.splitlines())
    assert [four[place] for place in (0, 1, 2, 6)] == ["4", "5", "3", "1 of 3"]
    assert four[7:] == ["2 of 2", "0 of 1"]
    assert four[5].startswith("x1.2 (")
    assert none[5] == "-"


def test_what_does_not_advise_gains_nothing() -> None:
    shipped = load_curves()
    few = ResponseCurves(
        grid=shipped.grid, source=shipped.source, curves=(shipped.curves[0].model_copy(update={"ratios": ()}),)
    )
    windows = ScenarioWindows(scenarios_of(1, 0)[0].scenario, SimulatedMeasurement(requests=200))
    found = looked(Advisor(Model.of(few)), windows, {"a network"})
    assert (found["verdict"], found["gain"], found["by"]) == ("no advice", 0.0, "curves")


def test_workloads_of_known_compositions_and_those_that_a_network_was_chosen_by_are_left_out() -> None:
    found = [measured(Task("all", CPUS[1], place, quick=True)) for place in range(40)]
    compositions = [one["composition"] for one in found if one]
    assert 5 < len(compositions) < 40
    assert not any(chooses(text) or text in known() for text in compositions)


def test_a_gain_counts_as_it_is_told() -> None:
    assert (as_told(9.0), as_told(-9.0), as_told(0.5)) == (math.log(10.0), -math.log(10.0), 0.5)
