"""Bars of what takes minutes: how far it is, and for how long it has run; lines where there is no terminal."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

Item = TypeVar("Item")

LINE_EVERY_S = 60.0
"""Least seconds between two lines where there is no terminal."""


class ProgressLines(Progress):
    """Says how far something is once a minute, for a file or a pipe, where a bar is drawn at its end alone."""

    def __init__(self, *columns: ProgressColumn, **options: Any) -> None:
        super().__init__(*columns, **options)
        self._told_s = self.get_time()

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """See `Progress.update`."""
        super().update(task_id, **changes)
        self._tell(task_id)

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        """See `Progress.advance`."""
        super().advance(task_id, advance)
        self._tell(task_id)

    def _tell(self, task_id: TaskID) -> None:
        if (now_s := self.get_time()) - self._told_s < LINE_EVERY_S:
            return
        self._told_s = now_s
        task = next(each for each in self.tasks if each.id == task_id)
        shown = f", {task.fields['shown']}" if task.fields.get("shown") else ""
        done = f"{task.completed:g} of {task.total or 0:g}"
        line = f"{task.description}: {done}{shown}, after {(task.elapsed or 0.0) / 60:.0f} min"
        self.console.print(line, soft_wrap=True, markup=False)


class ProgressBars:
    """Bars on a terminal, or none.

    Args:
        progress: Where they are drawn; None draws nothing.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress

    def each(self, doing: str, items: Sequence[Item], name: Callable[[Item], str]) -> Iterator[Item]:
        """Gives the items one by one; the bar shows how many are done and the name of the one in work."""
        if self._progress is None:
            yield from items
            return
        task = self._progress.add_task(doing, total=len(items), shown="")
        for item in items:
            self._progress.update(task, shown=name(item))
            yield item
            self._progress.advance(task)
        self._progress.update(task, shown="")


NO_BARS = ProgressBars()


def new_progress(console: Console, *, transient: bool = False) -> Progress:
    """The bars of every command, not drawn yet; a task has a field `shown`.

    Args:
        console: Where they are drawn, or lines printed where it is no terminal.
        transient: Whether they vanish at the end.
    """
    drawn = Progress if console.is_terminal else ProgressLines
    return drawn(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[shown]}", markup=False),  # a name may be anybody's
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=transient,
    )


@contextmanager
def progress_bars(console: Console) -> Iterator[ProgressBars]:
    """Draws bars for the duration of the block."""
    with new_progress(console) as progress:
        yield ProgressBars(progress)
