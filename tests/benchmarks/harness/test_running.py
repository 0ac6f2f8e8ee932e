"""An experiment goes on where it was stopped, and gives the same rows on one process and on two."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from climbing import curves
from harness.experiment import Experiment, Found, Row, Task
from harness.running import run_all

TASKS = [Task(arm, scenario, seed) for scenario in ("b", "a") for seed in (0, 1) for arm in ("y", "x")]


@dataclass
class Counting:
    """Keeps what it was asked to run; ends like Ctrl-C at one task."""

    ends_at: Task | None = None
    ran: list[Task] = field(default_factory=list)

    def measure(self, task: Task) -> Found:
        if task == self.ends_at:
            raise KeyboardInterrupt
        self.ran.append(task)
        return {"lost": 0.25 * task.seed, "arm": task.arm}

    def experiment(self, scenarios: Sequence[str] = ("b", "a"), under: str = "") -> Experiment:
        return Experiment(
            "?", scenarios, self.measure, list, arms=("y", "x"), seeds=(0, 1), under=lambda: {"made_with": under}
        )


def rows(kept: Path, counting: Counting, scenarios: Sequence[str] = ("b", "a"), under: str = "") -> list[Row]:
    return run_all(counting.experiment(scenarios, under), kept, 1)


def test_runs_are_arms_in_turn_by_seed_and_scenario(tmp_path: Path) -> None:
    counting = Counting()
    assert [row.task for row in rows(tmp_path / "deep" / "runs.jsonl", counting)] == TASKS
    assert counting.ran == TASKS


def test_quick_is_the_first_scenario_and_seed() -> None:
    tasks = Counting().experiment().tasks(quick=True)
    assert tasks == [Task(arm, "b", 0, quick=True) for arm in ("y", "x")]


def test_scenarios_may_be_looked_up_and_say_how_many_seeds_they_have() -> None:
    experiment = Experiment("?", lambda: ["a", "abc"], Counting().measure, list, seeds=lambda name: range(len(name)))
    assert [(task.scenario, task.seed) for task in experiment.tasks()] == [
        *(("a", seed) for seed in range(1)),
        *(("abc", seed) for seed in range(3)),
    ]


def test_what_the_file_holds_is_not_run_again(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    first = rows(kept, Counting(), scenarios=["a"])
    counting = Counting()
    found = rows(kept, counting)
    assert counting.ran == TASKS[:4]
    assert found[4:] == first
    assert len(kept.read_text().splitlines()) == len(TASKS)


def test_rows_of_other_tasks_are_left_out(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    rows(kept, Counting())
    assert [row.task for row in rows(kept, Counting(), scenarios=["a"])] == TASKS[4:]


def test_rows_that_were_measured_under_something_else_are_left_out(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    rows(kept, Counting(), under="some")
    other, again = Counting(), Counting()
    rows(kept, other, under="others")
    rows(kept, again, under="some")
    assert (other.ran, again.ran) == (TASKS, [])


@pytest.mark.parametrize("lost", [1, 2, 20])
def test_torn_last_line_is_run_again(tmp_path: Path, lost: int) -> None:
    kept = tmp_path / "runs.jsonl"
    whole = rows(kept, Counting())
    kept.write_text(kept.read_text()[: -1 - lost])
    for ran in (TASKS[-1:], []):
        counting = Counting()
        assert rows(kept, counting) == whole
        assert counting.ran == ran


def test_interrupted_experiment_leaves_what_is_done_and_goes_on(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    with pytest.raises(KeyboardInterrupt):
        rows(kept, Counting(ends_at=TASKS[3]))
    assert len(kept.read_text().splitlines()) == 3
    counting = Counting()
    assert [row.task for row in rows(kept, counting)] == TASKS
    assert counting.ran == TASKS[3:]


def test_two_processes_give_the_rows_of_one(tmp_path: Path) -> None:
    experiment = Experiment(
        "?",
        ("arch of 8, 5 %, from one", "arch of 32, 5 %, shifted to more threads"),
        curves.measured,
        list,
        arms=("spectral", "dotnet"),
        seeds=range(8),
        together=True,
    )
    found = run_all(experiment, tmp_path / "two.jsonl", 2)
    assert found == run_all(experiment, tmp_path / "one.jsonl", 1)
