"""A suite: where controllers are compared, and all its runs on every processor; what is done is kept, to go on from."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Protocol, Self

from poolpilot.env.interrupts import Interrupts
from poolpilot.env.output import terminal
from poolpilot.pipelines.bench.climbing.score import Score
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import new_progress


@dataclass(frozen=True, slots=True)
class Task:
    """One run to do.

    Attributes:
        controller: Name of the controller.
        cell: Name of the cell.
        seed: Number of the repeat; the same one gives every controller the same noise.
    """

    controller: str
    cell: str
    seed: int


@dataclass(frozen=True, slots=True)
class Run:
    """A run that was done.

    Attributes:
        task: What was to do.
        score: What came of it.
    """

    task: Task
    score: Score

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return {**asdict(self.task), "score": asdict(self.score)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Rebuilds a run from `as_dict`."""
        score = Score(**values["score"])
        return cls(Task(values["controller"], values["cell"], values["seed"]), score)


class Suite(Protocol):
    """A backend with its cells; it must be possible to send one to another process."""

    def tasks(self) -> list[Task]:
        """Every run of the comparison, controllers interleaved."""

    def run(self, task: Task) -> Score:
        """Does one of them."""

    def describe(self, cell: str) -> dict[str, Any]:
        """What a cell is, fit for JSON."""


CHUNK = 64
"""Runs sent to a process at once; short ones would spend their time on the way."""


def run_suite(suite: Suite, processes: int, kept: Path | None, asked: str = "") -> list[Run]:
    """Does every run of a suite that the file does not hold yet.

    Args:
        suite: The cells and the controllers.
        processes: Processes beside each other.
        kept: File of runs, one JSON object a line; None: nothing is kept.
        asked: What the runs are measured under; those of something else in the file are left out.

    Raises:
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP ended it; the processes have, too, and the file holds what is done.
    """
    tasks = suite.tasks()
    wanted = set(tasks)
    known = (Run.from_dict(row) for row in read_runs(kept) if row.get("asked") == asked)
    runs = [run for run in known if run.task in wanted]
    done = {run.task for run in runs}
    left = [task for task in tasks if task not in done]
    with Interrupts(patient=False), new_progress(terminal(), transient=True) as progress, opened_for_more(kept) as out:
        bar = progress.add_task("runs", total=len(tasks), completed=len(runs), shown="")
        for finished in _finished(suite, left, processes):
            runs.extend(finished)
            for run in finished:
                keep_run({"asked": asked, **run.as_dict()}, out)
            progress.advance(bar, len(finished))
    order = {task: number for number, task in enumerate(tasks)}
    return sorted(runs, key=lambda run: order[run.task])


def _finished(suite: Suite, tasks: Sequence[Task], processes: int) -> Iterator[list[Run]]:
    remaining = iter(tasks)
    chunks = list(iter(lambda: list(islice(remaining, CHUNK if processes > 1 else 1)), []))
    if processes == 1:
        yield from (_do(suite, chunk) for chunk in chunks)
        return
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        yield from pool.map(_do, [suite] * len(chunks), chunks)
    except BaseException:
        # A signal has reached this process alone, and a chunk may take minutes.
        for process in active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _do(suite: Suite, tasks: Sequence[Task]) -> list[Run]:
    return [Run(task, suite.run(task)) for task in tasks]
