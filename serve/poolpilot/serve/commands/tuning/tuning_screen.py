"""The live screen of a run: the last windows, what the controller does and why; redrawn not too often."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from poolpilot.env.controller import Controller
from poolpilot.env.tuning.loop import TuningStep
from poolpilot.serve.commands.tuning.controller_view import ControllerView, DecisionLine, view_of
from poolpilot.serve.commands.tuning.outcome import optional
from poolpilot.serve.commands.tuning.sparkline import ASCII_LEVELS, BLOCKS, sparkline

SHOWN_WINDOWS = 56
"""A line of 80 columns holds so many beside their name."""

SHOWN_DECISIONS = 5

REDRAWN_EVERY_S = 0.05
"""Simulated time runs faster than eyes and terminals."""

ROUTINE = ("none", "wave")
"""Decisions that are not worth a line."""

LASTING = ("hold", "pause", "drop", "restart")
"""Decisions that are worth one line however often they come in a row."""


class TuningScreen:
    """The state of a run, redrawn after each window.

    Where there is no terminal it is printed once, at the end, or has a line for every reason, as the view wants it.

    Args:
        title: Shown above.
        console: Where to draw.
        goodput: What goodput is called.
        controller: Whose decisions are shown.
    """

    def __init__(self, title: str, console: Console, goodput: str, controller: Controller) -> None:
        self._title = title
        self._console = console
        self._goodput = goodput
        self._controller = controller
        self._levels = ASCII_LEVELS if console.options.ascii_only else BLOCKS
        self._steps: deque[TuningStep] = deque(maxlen=SHOWN_WINDOWS)
        self._decisions: deque[DecisionLine] = deque(maxlen=SHOWN_DECISIONS)
        self._news = ""
        self._reason = "the configuration at the start"
        self._rates: list[float] = []
        self._drawn_s = 0.0
        self._live = Live(console=console, auto_refresh=False, get_renderable=self.view)

    def view(self) -> Group:
        """What is on the screen now."""
        shown = view_of(self._controller)
        facts = Table.grid(padding=(0, 2))
        for name, text in self._facts(shown):
            facts.add_row(name, Text(text))
        history = [self._history(shown.column)] if self._decisions else []
        return Group(Text(self._title, style="bold"), facts, *shown.tables(), *history)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draws for the duration of the block."""
        if view_of(self._controller).line_by_line and not self._console.is_terminal:
            self._console.print(Text(self._title, style="bold"))
            try:
                yield
            finally:
                self._print_reason()
            return
        try:
            with self._live:
                try:
                    yield
                finally:
                    self._note_latest()
        finally:
            if not self._console.is_terminal:
                self._console.line()  # a terminal gets this from rich

    def tell(self, sentence: str) -> None:
        """Shows a sentence about the settings until the next one."""
        self._news = sentence

    def add(self, step: TuningStep) -> None:
        """Takes one more window, and what the controller has decided since the last."""
        self._note_latest()
        self._print_reason()
        self._steps.append(step)
        self._rates.append(step.goodput_per_s)
        if (now_s := time.monotonic()) - self._drawn_s >= REDRAWN_EVERY_S and self._live.is_started:
            self._drawn_s = now_s
            self._live.refresh()

    def _note_latest(self) -> None:
        """Keeps the latest decision if it is worth a line."""
        line = view_of(self._controller).line()
        if line is None:
            return
        last = self._decisions[-1] if self._decisions else None
        known = last is not None and line.sample == last.sample
        lasts = last is not None and line.decision == last.decision and line.decision in LASTING
        if not (known or lasts or line.decision in ROUTINE):
            self._decisions.append(line)

    def _print_reason(self) -> None:
        """Prints what the windows under the latest reason have shown, once there is another one."""
        shown = view_of(self._controller)
        if not self._rates or shown.reason == self._reason:
            return
        if shown.line_by_line and not self._console.is_terminal:
            self._console.print(f"{self._reason}; {self._goodput}: {fmean(self._rates):.0f}", soft_wrap=True)
        self._reason, self._rates = shown.reason, []

    def _facts(self, shown: ControllerView) -> Iterator[tuple[str, str]]:
        yield from shown.mode()
        if self._steps:
            yield from self._measured(self._steps[-1])
            yield from shown.place(self._steps[-1].pool_tuple)
        yield from shown.facts()
        if self._news:
            yield "settings", self._news

    def _measured(self, last: TuningStep) -> Iterator[tuple[str, str]]:
        rates = [step.goodput_per_s for step in self._steps]
        window = last.measured.window
        yield "time", f"{last.end_s:.1f} s"
        yield self._goodput, f"{rates[-1]:.0f}, lately {min(rates):.0f} to {max(rates):.0f}"
        yield "", sparkline(rates, self._levels)
        yield "p99", f"{optional(window.p99_ms, '.1f')} ms, {optional(window.threads, '.0f')} threads"

    def _history(self, column: str) -> Table:
        table = Table("sample", column, "decision", "reason", box=None, pad_edge=False)
        for decision in self._decisions:
            table.add_row(f"{decision.sample}", decision.values, decision.decision, Text(decision.reason))
        return table
