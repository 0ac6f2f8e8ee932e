"""A comparison goes on where it was stopped, and gives the same runs on one process and on two."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from poolpilot.pipelines.bench.climbing.cells import Noise
from poolpilot.pipelines.bench.climbing.curve_suite import CurveSuite
from poolpilot.pipelines.bench.climbing.score import Score
from poolpilot.pipelines.bench.climbing.suite import Run, Task, run_suite

TASKS = [Task(controller, cell, seed) for cell in ("b", "a") for seed in (0, 1) for controller in ("y", "x")]


@dataclass
class Counting:
    """Keeps what it was asked to run; ends like Ctrl-C at one task."""

    wanted: Sequence[Task] = tuple(TASKS)
    ends_at: Task | None = None
    ran: list[Task] = field(default_factory=list)

    def tasks(self) -> list[Task]:
        return list(self.wanted)

    def run(self, task: Task) -> Score:
        if task == self.ends_at:
            raise KeyboardInterrupt
        self.ran.append(task)
        return Score(0.01 * TASKS.index(task), 0.0, task.seed or None, 0.0, 1.0, 2, 1)

    def describe(self, cell: str) -> dict[str, Any]:
        return {"cell": cell}


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_runs_come_in_the_order_of_the_tasks() -> None:
    suite = Counting()
    assert [run.task for run in run_suite(suite, 1, None)] == TASKS
    assert suite.ran == TASKS


def test_what_the_file_holds_is_not_run_again(tmp_path: Path) -> None:
    kept = tmp_path / "deep" / "runs.jsonl"
    first = run_suite(Counting(TASKS[2:5]), 1, kept)
    suite = Counting()
    runs = run_suite(suite, 1, kept)
    assert suite.ran == TASKS[:2] + TASKS[5:]
    assert [run.task for run in runs] == TASKS
    assert runs[2:5] == first
    assert len(lines(kept)) == len(TASKS)
    again = Counting()
    assert run_suite(again, 1, kept) == runs
    assert again.ran == []


def test_runs_of_other_tasks_in_the_file_are_left_out(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    run_suite(Counting(), 1, kept)
    assert [run.task for run in run_suite(Counting(TASKS[:3]), 1, kept)] == TASKS[:3]
    assert len(lines(kept)) == len(TASKS)


def test_runs_of_other_settings_in_the_file_are_left_out(tmp_path: Path) -> None:
    """Before, scores of 100 samples were told as those of 600, which nobody had run."""
    kept = tmp_path / "runs.jsonl"
    run_suite(Counting(), 1, kept, "some")
    other = Counting()
    run_suite(other, 1, kept, "others")
    assert other.ran == TASKS
    again = Counting()
    run_suite(again, 1, kept, "some")
    assert again.ran == []


@pytest.mark.parametrize("lost", [1, 2, 40])
def test_torn_last_line_is_run_again(tmp_path: Path, lost: int) -> None:
    kept = tmp_path / "runs.jsonl"
    whole = run_suite(Counting(), 1, kept)
    kept.write_text(kept.read_text()[: -1 - lost])
    for ran in (TASKS[-1:], []):
        suite = Counting()
        assert run_suite(suite, 1, kept) == whole
        assert suite.ran == ran


def test_line_that_lacks_its_end_alone_is_whole(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    run_suite(Counting(TASKS[:4]), 1, kept)
    kept.write_text(kept.read_text()[:-1])
    for ran in (TASKS[4:], []):
        suite = Counting()
        assert [run.task for run in run_suite(suite, 1, kept)] == TASKS
        assert suite.ran == ran


def test_interrupted_comparison_leaves_what_is_done_and_goes_on(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_suite(Counting(ends_at=TASKS[3]), 1, kept)
    assert len(lines(kept)) == 3
    suite = Counting()
    assert [run.task for run in run_suite(suite, 1, kept)] == TASKS
    assert suite.ran == TASKS[3:]


def test_two_processes_give_the_runs_of_one() -> None:
    suite = CurveSuite(
        controllers=("spectral", "dotnet"),
        shapes=("arch",),
        scales=(8,),
        noises=(Noise(0.0), Noise(0.05)),
        starts=("one", "largest"),
        shift_scales=(32,),
        seeds=16,
        samples=40,
        price_of_thread=0.02,
        variants={},
    )
    runs = run_suite(suite, 2, None)
    assert len(runs) > 64
    assert runs == run_suite(suite, 1, None)


def test_run_survives_its_way_through_json() -> None:
    run = Run(TASKS[0], Score(0.1, 0.2, None, 0.3, 1.5, 4, 1))
    assert Run.from_dict(run.as_dict()) == run
