"""The live screen of a search: the round, what it tries and why, and the best so far."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from poolpilot.agent.search_controller import SearchController
from poolpilot.env.climb import ClimbStep
from poolpilot.env.sparkline import ASCII_LEVELS, BLOCKS, sparkline

SHOWN_WINDOWS = 56
"""A line of 80 columns holds so many beside their name."""

REDRAWN_EVERY_S = 0.05
"""Simulated time runs faster than eyes and terminals."""


class SearchScreen:
    """The state of a search, redrawn after each window; where there is no terminal, a line for every round.

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
        self._round: list[float] = []
        self._reason = "the tuple at the start"
        self._best = ""
        self._drawn_s = 0.0
        self._live = Live(console=console, auto_refresh=False, get_renderable=self.view)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draws for the duration of the block."""
        if not self._console.is_terminal:
            self._console.print(Text(self._title, style="bold"))
            yield
            return
        with self._live:
            yield

    def add(self, step: ClimbStep) -> None:
        """Takes one more window."""
        self._steps.append(step)
        self._round.append(step.goodput_per_s)
        if self._console.is_terminal and (now_s := time.monotonic()) - self._drawn_s >= REDRAWN_EVERY_S:
            self._drawn_s = now_s
            self._live.refresh()

    def tell(self, controller: SearchController) -> None:
        """Takes what the controller has decided after the latest window."""
        best = controller.observations.best
        self._best = "" if best is None else f"{best.pool_tuple}"
        if controller.reason == self._reason:
            return
        if not self._console.is_terminal:
            self._console.print(f"{self._reason}; {self._goodput}: {fmean(self._round):.0f}", soft_wrap=True)
        self._reason, self._round = controller.reason, []

    def view(self) -> Group:
        """What is on the screen now."""
        facts = Table.grid(padding=(0, 2))
        for name, text in self._facts():
            facts.add_row(name, Text(text))
        return Group(Text(self._title, style="bold"), facts)

    def _facts(self) -> Iterator[tuple[str, str]]:
        if self._steps:
            rates = [one.goodput_per_s for one in self._steps]
            yield "time", f"{self._steps[-1].end_s:.1f} s"
            yield self._goodput, f"{rates[-1]:.0f}, lately {min(rates):.0f} to {max(rates):.0f}"
            yield "", sparkline(rates, self._levels)
            yield "tuple", f"{self._steps[-1].pool_tuple}"
        if self._best:
            yield "best so far", self._best
        yield "latest", self._reason
