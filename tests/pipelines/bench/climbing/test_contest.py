"""A comparison goes on where it was stopped, and gives the same runs on one process and on two."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from poolpilot.pipelines.bench.climbing.arena import Run, Task
from poolpilot.pipelines.bench.climbing.cells import Noise
from poolpilot.pipelines.bench.climbing.contest import contest
from poolpilot.pipelines.bench.climbing.curve_arena import CurveArena
from poolpilot.pipelines.bench.climbing.score import Score

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
    arena = Counting()
    assert [run.task for run in contest(arena, 1, None)] == TASKS
    assert arena.ran == TASKS


def test_what_the_file_holds_is_not_run_again(tmp_path: Path) -> None:
    kept = tmp_path / "deep" / "runs.jsonl"
    first = contest(Counting(TASKS[2:5]), 1, kept)
    arena = Counting()
    runs = contest(arena, 1, kept)
    assert arena.ran == TASKS[:2] + TASKS[5:]
    assert [run.task for run in runs] == TASKS
    assert runs[2:5] == first
    assert len(lines(kept)) == len(TASKS)
    again = Counting()
    assert contest(again, 1, kept) == runs
    assert again.ran == []


def test_runs_of_other_tasks_in_the_file_are_left_out(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    contest(Counting(), 1, kept)
    assert [run.task for run in contest(Counting(TASKS[:3]), 1, kept)] == TASKS[:3]
    assert len(lines(kept)) == len(TASKS)


@pytest.mark.parametrize("lost", [1, 2, 40])
def test_torn_last_line_is_run_again(tmp_path: Path, lost: int) -> None:
    kept = tmp_path / "runs.jsonl"
    whole = contest(Counting(), 1, kept)
    kept.write_text(kept.read_text()[: -1 - lost])
    for ran in (TASKS[-1:], []):
        arena = Counting()
        assert contest(arena, 1, kept) == whole
        assert arena.ran == ran


def test_line_that_lacks_its_end_alone_is_whole(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    contest(Counting(TASKS[:4]), 1, kept)
    kept.write_text(kept.read_text()[:-1])
    for ran in (TASKS[4:], []):
        arena = Counting()
        assert [run.task for run in contest(arena, 1, kept)] == TASKS
        assert arena.ran == ran


def test_interrupted_comparison_leaves_what_is_done_and_goes_on(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    with pytest.raises(KeyboardInterrupt):
        contest(Counting(ends_at=TASKS[3]), 1, kept)
    assert len(lines(kept)) == 3
    arena = Counting()
    assert [run.task for run in contest(arena, 1, kept)] == TASKS
    assert arena.ran == TASKS[3:]


def test_two_processes_give_the_runs_of_one() -> None:
    arena = CurveArena(
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
    runs = contest(arena, 2, None)
    assert len(runs) > 64
    assert runs == contest(arena, 1, None)


def test_run_survives_its_way_through_json() -> None:
    run = Run(TASKS[0], Score(0.1, 0.2, None, 0.3, 1.5, 4, 1))
    assert Run.from_dict(run.as_dict()) == run
