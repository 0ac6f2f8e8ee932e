"""The figures of a comparison made by hand."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.pipelines.bench.climbing.conftest import NoSuite

from poolpilot.pipelines.bench.climbing.score import Score
from poolpilot.pipelines.bench.climbing.summary import Comparison, means_of

MakeComparison = Callable[[Mapping[str, Mapping[str, Sequence[float]]]], Comparison]

LOST: dict[str, dict[str, list[float]]] = {
    "best here": {"spectral": [0.01, 0.02], "dotnet": [0.05, 0.06], "probing": [0.2, 0.2], "usl": [0.1, 0.1]},
    "usl is better": {"spectral": [0.05, 0.06], "dotnet": [0.3, 0.31], "probing": [0.2, 0.2], "usl": [0.01, 0.02]},
    "a bit behind": {"spectral": [0.05, 0.06], "dotnet": [0.04, 0.05], "probing": [0.2, 0.2], "usl": [0.2, 0.2]},
    "far behind": {"spectral": [0.40, 0.41], "dotnet": [0.10, 0.11], "probing": [0.2, 0.21], "usl": [0.5, 0.5]},
    "in doubt": {"spectral": [0.10, 0.20], "dotnet": [0.19, 0.10], "probing": [0.5, 0.6], "usl": [0.5, 0.6]},
}


class OneCurve(NoSuite):
    """All cells are of one curve that shifts."""

    def describe(self, cell: str) -> dict[str, Any]:
        return {**super().describe(cell), "shape": "arch", "shift": "to fewer threads"}


@pytest.fixture
def comparison(make_comparison: MakeComparison) -> Comparison:
    return make_comparison(LOST)


def test_share_of_cells_in_which_ours_loses_least(comparison: Comparison) -> None:
    summary = comparison.summary()
    assert summary["cells"] == 5
    assert summary["spectral_best_share"] == pytest.approx(1 / 5)


def test_verdicts_are_tallied_by_baseline(comparison: Comparison) -> None:
    verdicts = comparison.summary()["verdicts"]
    assert verdicts == {
        "dotnet": {"won": 2, "tied": 1, "lost": 2},
        "probing": {"won": 4, "tied": 0, "lost": 1},
        "usl": {"won": 4, "tied": 0, "lost": 1},
    }


def test_losing_cells_are_those_behind_an_ancestor_the_worst_first(comparison: Comparison) -> None:
    rows = comparison.losing_cells()
    assert [(row["cell"], row["baseline"]) for row in rows] == [
        ("far behind", "dotnet"),
        ("far behind", "probing"),
        ("a bit behind", "dotnet"),
        ("in doubt", "dotnet"),
    ]
    assert [row["difference"] for row in rows] == pytest.approx([0.3, 0.2, 0.01, 0.005])
    assert all(row["low"] <= row["difference"] <= row["high"] for row in rows)


def test_cells_that_may_be_behind_by_the_margin_are_counted_once(comparison: Comparison) -> None:
    assert comparison.summary()["not_non_inferior"] == 2


def test_share_of_cells_ahead_of_the_best_ancestor(comparison: Comparison) -> None:
    assert comparison.summary()["better_than_best_ancestor_share"] == pytest.approx(2 / 5)


def test_without_ancestors_nothing_is_said_of_them(make_comparison: MakeComparison) -> None:
    summary = make_comparison({"a": {"spectral": [0.1, 0.2], "usl": [0.3, 0.5]}}).summary()
    assert summary["better_than_best_ancestor_share"] is None
    assert summary["not_non_inferior"] == 0
    assert summary["verdicts"].keys() == {"usl"}


def test_single_run_of_a_cell_is_compared_by_its_difference(make_comparison: MakeComparison) -> None:
    comparison = make_comparison({"a": {"spectral": [0.1], "dotnet": [0.4]}, "b": {"spectral": [0.4], "dotnet": [0.1]}})
    assert comparison.summary()["verdicts"]["dotnet"] == {"won": 1, "tied": 0, "lost": 1}
    assert comparison.summary()["spectral_best_share"] == 0.5


def test_every_cell_tells_of_every_controller_and_is_fit_for_json(comparison: Comparison) -> None:
    cells = json.loads(json.dumps(comparison.cells()))
    assert [cell["cell"] for cell in cells] == list(LOST)
    far = cells[3]
    assert far["shape"] == "far behind"
    assert far["controllers"]["dotnet"]["spectral"] == "lost"
    assert far["controllers"]["dotnet"]["spectral_minus_this"] == pytest.approx([0.3, 0.3, 0.3])
    assert "spectral" not in far["controllers"]["spectral"]
    assert far["controllers"]["spectral"]["objective_lost"] == pytest.approx(0.405)


def test_report_has_means_by_curve_and_no_cells(comparison: Comparison) -> None:
    values = json.loads(json.dumps(comparison.as_dict()))
    assert values.keys() == {"summary", "losing", "by_curve"}
    assert [row["shape"] for row in values["by_curve"]] == list(LOST)
    far = values["by_curve"][3]
    assert far.keys() == {"shape", "shifted", "noise", "correlation", "objective_lost"}
    assert far["objective_lost"].keys() == {"spectral", "dotnet", "probing"}
    assert far["objective_lost"]["spectral"] == pytest.approx(0.405)


def test_cells_of_one_curve_and_noise_are_averaged(make_comparison: MakeComparison) -> None:
    lost = {"a": {"spectral": [0.1], "dotnet": [0.2]}, "b": {"spectral": [0.3], "dotnet": [0.6]}}
    (row,) = replace(make_comparison(lost), suite=OneCurve()).by_curve()
    assert row["shifted"]
    assert row["objective_lost"] == pytest.approx({"spectral": 0.2, "dotnet": 0.4})


def test_means_are_over_all_cells(comparison: Comparison) -> None:
    means = comparison.summary()["means"]
    assert means.keys() == {"spectral", "dotnet", "probing", "usl"}
    assert means["usl"]["objective_lost"] == pytest.approx((0.1 + 0.015 + 0.2 + 0.5 + 0.55) / 5)
    assert means["usl"]["throughput_lost"] == pytest.approx(means["usl"]["objective_lost"] / 2)


def test_median_of_the_samples_to_stay_counts_runs_that_never_do_as_longest() -> None:
    def staying(*samples: int | None) -> list[Score]:
        return [Score(0.1, 0.1, one, 0.1, 1.0, 2, 1) for one in samples]

    assert means_of(staying(30, None, 10))["samples_to_stay"] == 30
    assert means_of(staying(None, None, 10))["samples_to_stay"] is None
    assert means_of(staying(10, None))["samples_to_stay"] is None
    assert means_of(staying(10, 20))["samples_to_stay"] == 15
    assert means_of(staying(30, None, 10))["stays"] == pytest.approx(2 / 3)
