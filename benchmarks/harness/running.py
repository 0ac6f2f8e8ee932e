"""All runs of an experiment, on every processor where they may go beside each other; what is done is kept."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from itertools import islice
from multiprocessing import active_children, get_context
from pathlib import Path

from harness.experiment import Experiment, Found, Row, Task
from poolpilot.env.interrupts import Interrupts
from poolpilot.env.output import terminal
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import new_progress

CHUNK = 64
"""Most runs sent to a process at once; short ones would spend their time on the way."""

Measure = Callable[[Task], Found]


def run_all(experiment: Experiment, kept: Path, processes: int, *, quick: bool = False) -> list[Row]:
    """Does every run that the file does not hold yet.

    Args:
        experiment: The experiment.
        kept: File of rows, one JSON object a line.
        processes: Processes beside each other, where the experiment allows it.
        quick: Whether the first runs alone are done.

    Raises:
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP ended it; its processes have, too, and the file holds what is done.
    """
    tasks, under = experiment.tasks(quick=quick), dict(experiment.under())
    wanted = set(tasks)
    rows = {row.task: row for row in map(_row_of, _of_same(kept, under)) if row.task in wanted}
    left = [task for task in tasks if task not in rows]
    beside = processes if experiment.together else 1
    with Interrupts(patient=False), new_progress(terminal(), transient=True) as progress, opened_for_more(kept) as out:
        bar = progress.add_task("runs", total=len(tasks), completed=len(rows), shown="")
        for finished in _finished(experiment.measure, left, beside):
            for row in finished:
                rows[row.task] = row
                keep_run({"under": under, **asdict(row.task), "found": row.found}, out)
            progress.update(bar, advance=len(finished), shown=finished[-1].task.scenario)
    return [rows[task] for task in tasks]


def _of_same(kept: Path, under: Found) -> Iterator[Found]:
    return (row for row in read_runs(kept) if row.get("under") == under)


def _row_of(kept: Found) -> Row:
    return Row(Task(kept["arm"], kept["scenario"], kept["seed"], kept["quick"]), kept["found"])


def _finished(measure: Measure, tasks: Sequence[Task], processes: int) -> Iterator[list[Row]]:
    remaining = iter(tasks)
    size = min(CHUNK, max(1, len(tasks) // (4 * processes))) if processes > 1 else 1
    chunks = list(iter(lambda: list(islice(remaining, size)), []))
    if processes == 1:
        yield from (_do(measure, chunk) for chunk in chunks)
        return
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        yield from pool.map(_do, [measure] * len(chunks), chunks)
    except BaseException:
        # A signal has reached this process alone, and a chunk may take minutes.
        for process in active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _do(measure: Measure, tasks: Sequence[Task]) -> list[Row]:
    return [Row(task, measure(task)) for task in tasks]
