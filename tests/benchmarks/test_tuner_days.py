"""Days are lived through by every arm, and summed up beside the default of the same day."""

import math

import pytest

from experiments.tuner_days import EXPERIMENTS, measured, summarise
from harness.experiment import Row, Task
from tuner_days.day_server import Day, DayServer


def test_every_arm_lives_through_a_short_day_and_is_held_against_its_default() -> None:
    tasks = EXPERIMENTS["tuner_days"].tasks(quick=True)
    rows = [Row(task, measured(task)) for task in tasks]
    methods = summarise(rows)["methods"]
    assert methods.keys() == {"constant", "tuner"}
    assert all(math.isfinite(row["completed"]) and row["days"] == 1 for row in methods.values())
    assert methods["constant"]["changes"] == 0


def test_workloads_shift_when_the_day_says_so_and_the_tuple_stays() -> None:
    day = Day.draw(7, 0.05)
    with DayServer(day) as server:
        changed = server.tuple_in_force().with_core((4, 3, 10))
        server.apply(changed)
        server.run_for(day.length_s)
        assert server.tuple_in_force() == changed
        assert server.changes == 1
        assert server.at_s() == pytest.approx(day.length_s)
        assert server.bins.sum() == server.snapshot().counters["completed"]


def test_task_of_another_seed_is_another_day() -> None:
    first, second = (measured(Task("default", "two hours", seed, quick=True)) for seed in (40, 41))
    assert first["bins"] != second["bins"]
