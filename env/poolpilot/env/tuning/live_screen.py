"""What the live screens of a climb and of a search have in common: the last windows, redrawn not too often."""

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from poolpilot.env.climbing.climb import ClimbStep
from poolpilot.env.tuning.sparkline import ASCII_LEVELS, BLOCKS, sparkline

SHOWN_WINDOWS = 56
"""A line of 80 columns holds so many beside their name."""

REDRAWN_EVERY_S = 0.05
"""Simulated time runs faster than eyes and terminals."""


class LiveScreen(ABC):
    """The last windows of a server that is tuned, under a title; drawn once by its constructor, so fields come first.

    Args:
        title: Shown above.
        console: Where to draw.
        goodput: What goodput is called.
    """

    def __init__(self, title: str, console: Console, goodput: str) -> None:
        self._title = title
        self._goodput = goodput
        self._console = console
        self._levels = ASCII_LEVELS if console.options.ascii_only else BLOCKS
        self._steps: deque[ClimbStep] = deque(maxlen=SHOWN_WINDOWS)
        self._drawn_s = 0.0
        self._live = Live(console=console, auto_refresh=False, get_renderable=self.view)

    def view(self) -> Group:
        """What is on the screen now."""
        facts = Table.grid(padding=(0, 2))
        for name, text in self._facts():
            facts.add_row(name, Text(text))
        return Group(Text(self._title, style="bold"), facts, *self._tables())

    @abstractmethod
    def _facts(self) -> Iterator[tuple[str, str]]:
        """Names and texts, from top to bottom."""

    def _tables(self) -> list[Table]:
        """What stands below the facts."""
        return []

    def _redraw(self) -> None:
        """Draws anew unless that has just been done."""
        if (now_s := time.monotonic()) - self._drawn_s >= REDRAWN_EVERY_S:
            self._drawn_s = now_s
            self._live.refresh()

    def _measured(self) -> Iterator[tuple[str, str]]:
        """Time and goodput of the windows; nothing before the first."""
        if not self._steps:
            return
        rates = [one.goodput_per_s for one in self._steps]
        yield "time", f"{self._steps[-1].end_s:.1f} s"
        yield self._goodput, f"{rates[-1]:.0f}, lately {min(rates):.0f} to {max(rates):.0f}"
        yield "", sparkline(rates, self._levels)
