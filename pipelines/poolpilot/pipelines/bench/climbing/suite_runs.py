"""Runs a comparison on every processor, with progress; what is done is kept, so that it can go on."""

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import TextIO

from rich.progress import Progress

from poolpilot.env.interrupts import Interrupts
from poolpilot.pipelines.bench.climbing.suite import Run, Suite, Task

CHUNK = 64
"""Runs sent to a process at once; short ones would spend their time on the way."""


def run_suite(suite: Suite, processes: int, kept: Path | None) -> list[Run]:
    """Does every run of an suite that the file does not hold yet.

    Args:
        suite: The cells and the controllers.
        processes: Processes beside each other.
        kept: File of runs, one JSON object a line; None: nothing is kept.

    Raises:
        KeyboardInterrupt: Ctrl-C, SIGTERM or SIGHUP ended it; the processes have, too, and the file holds what is done.
    """
    tasks = suite.tasks()
    wanted = set(tasks)
    runs = [run for run in _read(kept) if run.task in wanted]
    done = {run.task for run in runs}
    left = [task for task in tasks if task not in done]
    with Interrupts(patient=False), Progress(transient=True) as progress, _opened(kept) as out:
        bar = progress.add_task("runs", total=len(tasks), completed=len(runs))
        for finished in _finished(suite, left, processes):
            runs.extend(finished)
            if out is not None:
                out.writelines(json.dumps(run.as_dict()) + "\n" for run in finished)
                out.flush()
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


def _read(kept: Path | None) -> list[Run]:
    if kept is None or not kept.exists():
        return []
    return [Run.from_dict(json.loads(line)) for line in kept.read_text().splitlines() if line.endswith("}}")]


@contextmanager
def _opened(kept: Path | None) -> Iterator[TextIO | None]:
    if kept is None:
        yield None
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    torn = kept.exists() and kept.read_text()[-1:] not in ("", "\n")
    with kept.open("a") as out:
        out.write("\n" if torn else "")
        yield out
