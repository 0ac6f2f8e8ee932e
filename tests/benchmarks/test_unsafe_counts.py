"""Unsafe windows are counted apart for each predictor, beside windows of another configuration, by family."""

from typing import Any

import numpy as np
import pytest

from experiments.unsafe import summarise
from harness.experiment import Row, Task
from unsafe_windows.unsafe_counts import by_family, counts_of, summary

USUAL = [(False, 100.0, 10.0), (False, 102.0, 10.2), (False, 98.0, 9.8)]


def run(family: str, guarded: int, unguarded: int) -> dict[str, Any]:
    def arm(unsafe: int) -> dict[str, float]:
        return {"windows": 120, "changed": 80, "unsafe": unsafe, "in_a_row": 1}

    return {"family": family, "guarded": arm(guarded), "unguarded": arm(unguarded)}


def test_only_windows_of_another_configuration_are_counted_and_can_be_unsafe() -> None:
    seen = [(False, 50.0, 10.0), (True, 101.0, 10.0), (True, 50.0, 10.0), (True, 101.0, 30.0)]
    counted = counts_of(seen, USUAL)
    assert {name: counted[name] for name in ("windows", "changed", "unsafe", "in_a_row")} == {
        "windows": 4,
        "changed": 3,
        "unsafe": 2,
        "in_a_row": 2,
    }


def test_predictors_are_never_counted_together() -> None:
    rows = [
        Row(Task(predictor, f"{family}, from default", seed), run(family, 1, unguarded))
        for family in ("a", "b", "c")
        for seed in (1, 2)
        for predictor, unguarded in (("shipped", 10), ("at random", 50))
    ]
    found = [(row["predictor"], row["runs"], row["unguarded_unsafe"]) for row in summarise(rows)["rows"]]
    assert found == [("shipped", 6, 60), ("at random", 6, 300)]


def test_share_avoided_is_of_unsafe_windows_and_its_bound_lies_below() -> None:
    found = summary([run("a", 5, 10), run("b", 0, 90)])
    assert found["avoided"] == pytest.approx(0.95)
    assert found["avoided_low"] == pytest.approx(0.5)
    assert (found["guarded_changed"], found["guarded_windows"]) == (160, 240)


def test_draws_of_one_family_are_resampled_together() -> None:
    sums = by_family([run("a", 1, 2), run("a", 3, 4)], "unsafe")
    assert np.array_equal(sums, [[4.0, 6.0]])
