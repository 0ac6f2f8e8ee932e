"""Walks along the advice: who follows it arrives, from posted configurations, and a quiet server is left alone."""

from experiments.advice_walks import measured, row_of
from experiments.posted_tuples import POSTED
from harness.experiment import Task


def test_fifty_configurations_are_posted() -> None:
    assert len(set(POSTED)) == 50


def test_who_follows_the_advice_arrives_and_light_load_is_left_alone() -> None:
    draws = [measured(Task("all", "simulated", seed)) for seed in range(40)]
    rows = [row_of(share, draws) for share in (0.05, 0.2, 0.5, 0.8, 1.0)]
    assert sum(row["draws"] for row in rows) == 40
    assert all(row["most_steps"] <= 2 and row["come_back"] == 0 for row in rows)
    light, half = rows[:2], rows[2:]
    assert sum(row["left_alone"] for row in light) >= sum(row["draws"] for row in light) - 1
    assert any(row["most_steps"] for row in half)


def test_what_comes_back_is_counted() -> None:
    stayed = {"path": [[2, 3, 500]], "verdict": "leave it"}
    circled = {"path": [[4, 3, 500], [2, 3, 500], [4, 3, 500], [2, 3, 500]], "verdict": "change"}
    row = row_of(0.2, [{"workload": "calm", "share": 0.2, "walks": [stayed, circled]}])
    assert row == {"share": 0.2, "draws": 1, "left_alone": 1, "walks": 2, "most_steps": 3, "come_back": 1}
