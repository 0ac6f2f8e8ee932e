"""Bars of what takes minutes: how far it is, and for how long it has run."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Item = TypeVar("Item")


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


def new_progress(console: Console) -> Progress:
    """The bars of every command, not drawn yet; a task has a field `shown`."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[shown]}", markup=False),  # a name may be anybody's
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


@contextmanager
def progress_bars(console: Console) -> Iterator[ProgressBars]:
    """Draws bars for the duration of the block."""
    with new_progress(console) as progress:
        yield ProgressBars(progress)
