"""The figures of a comparison made by hand."""

from collections.abc import Mapping, Sequence

import pytest

from climbing.summary import means_of, summarise
from harness.experiment import Row, Task

LOST: dict[str, dict[str, list[float]]] = {
    "best here": {"spectral": [0.01, 0.02], "dotnet": [0.05, 0.06], "probing": [0.2, 0.2], "usl": [0.1, 0.1]},
    "usl is better": {"spectral": [0.05, 0.06], "dotnet": [0.3, 0.31], "probing": [0.2, 0.2], "usl": [0.01, 0.02]},
    "a bit behind": {"spectral": [0.05, 0.06], "dotnet": [0.04, 0.05], "probing": [0.2, 0.2], "usl": [0.2, 0.2]},
    "far behind": {"spectral": [0.40, 0.41], "dotnet": [0.10, 0.11], "probing": [0.2, 0.21], "usl": [0.5, 0.5]},
    "in doubt": {"spectral": [0.10, 0.20], "dotnet": [0.19, 0.10], "probing": [0.5, 0.6], "usl": [0.5, 0.6]},
}


def rows(lost: Mapping[str, Mapping[str, Sequence[float]]]) -> list[Row]:
    return [
        Row(Task(arm, cell, seed), {"objective_lost": share, "samples_to_stay": None, "end_lost": share / 2})
        for cell, found in lost.items()
        for arm, shares in found.items()
        for seed, share in enumerate(shares)
    ]


SUMMARY = summarise(rows(LOST))


def test_share_of_cells_in_which_ours_loses_least() -> None:
    assert SUMMARY["cells"] == 5
    assert SUMMARY["spectral_best_share"] == pytest.approx(1 / 5)


def test_verdicts_are_tallied_by_baseline() -> None:
    assert SUMMARY["verdicts"] == {
        "dotnet": {"won": 2, "tied": 1, "lost": 2},
        "probing": {"won": 4, "tied": 0, "lost": 1},
        "usl": {"won": 4, "tied": 0, "lost": 1},
    }


def test_cells_that_may_be_behind_by_the_margin_are_counted_once() -> None:
    assert SUMMARY["not_non_inferior"] == 2


def test_share_of_cells_ahead_of_the_best_ancestor() -> None:
    assert SUMMARY["better_than_best_ancestor_share"] == pytest.approx(2 / 5)


def test_single_run_of_a_cell_is_compared_by_its_difference() -> None:
    found = summarise(rows({"a": {"spectral": [0.1], "dotnet": [0.4]}, "b": {"spectral": [0.4], "dotnet": [0.1]}}))
    assert found["verdicts"]["dotnet"] == {"won": 1, "tied": 0, "lost": 1}
    assert found["spectral_best_share"] == 0.5


def test_means_are_over_all_cells() -> None:
    assert SUMMARY["means"].keys() == {"spectral", "dotnet", "probing", "usl"}
    usl = SUMMARY["means"]["usl"]
    assert usl["objective_lost"] == pytest.approx((0.1 + 0.015 + 0.2 + 0.5 + 0.55) / 5)
    assert usl["end_lost"] == pytest.approx(usl["objective_lost"] / 2)


def test_share_of_runs_that_stay() -> None:
    scores = [{"objective_lost": 0.1, "end_lost": 0.1, "samples_to_stay": one} for one in (30, None, 10)]
    assert means_of(scores)["stays"] == pytest.approx(2 / 3, abs=1e-5)
