"""The live screen of a climb: what the climber does and why."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table
from rich.text import Text

from poolpilot.env.climbing.climb import ClimbStep
from poolpilot.env.tuning.live_screen import LiveScreen
from poolpilot.serve.commands.climb.climb_outcome import optional
from poolpilot.serve.commands.climb.climb_view import AnyClimber, DecisionLine, KnobsView, SizeView, view_of

SHOWN_DECISIONS = 5

ROUTINE = ("none", "wave")
"""Decisions that are not worth a line."""

LASTING = ("hold", "pause", "drop", "restart")
"""Decisions that are worth one line however often they come in a row."""


class ClimbScreen(LiveScreen):
    """The state of a climb, redrawn after each window; where there is no terminal it is printed once, at the end.

    Args:
        title: Shown above.
        console: Where to draw.
        goodput: What goodput is called.
    """

    def __init__(self, title: str, console: Console, goodput: str) -> None:
        self._decisions: deque[DecisionLine] = deque(maxlen=SHOWN_DECISIONS)
        self._climber: AnyClimber | None = None
        self._view: SizeView | KnobsView | None = None
        self._news = ""
        super().__init__(title, console, goodput)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Draws for the duration of the block."""
        try:
            with self._live:
                try:
                    yield
                finally:
                    self._note_latest()
        finally:
            if not self._console.is_terminal:
                self._console.line()  # a terminal gets this from rich

    def follow(self, climber: AnyClimber) -> None:
        """Takes the climber whose decisions are shown."""
        self._climber = climber
        self._view = view_of(climber)

    def tell(self, sentence: str) -> None:
        """Shows a sentence about the settings until the next one."""
        self._news = sentence

    def add(self, step: ClimbStep) -> None:
        """Takes one more window, and what the climber has decided since the last."""
        self._steps.append(step)
        self._note_latest()
        self._redraw()

    def _tables(self) -> list[Table]:
        if self._view is None:
            return []
        return [*self._view.tables(), *([self._history(self._view.column)] if self._decisions else [])]

    def _note_latest(self) -> None:
        """Keeps the latest decision if it is worth a line."""
        if self._view is None:
            return
        line, last = self._view.line(), self._decisions[-1] if self._decisions else None
        known = last is not None and line.sample == last.sample
        lasts = last is not None and line.decision == last.decision and line.decision in LASTING
        if not (known or lasts or line.decision in ROUTINE):
            self._decisions.append(line)

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield "mode", self._climber.mode if self._climber else "looking: the model has not decided yet"
        yield from self._measured()
        if self._steps:
            yield from self._felt(self._steps[-1])
        if self._view is not None:
            yield from self._view.facts()
        if self._news:
            yield "settings", self._news

    def _felt(self, step: ClimbStep) -> Iterator[tuple[str, str]]:
        window = step.measured.window
        yield "p99", f"{optional(window.p99_ms, '.1f')} ms, {optional(window.threads, '.0f')} threads"
        if not isinstance(self._view, KnobsView):  # which has a table of its own for it
            yield "pool size", f"{step.pool_tuple.pool_size}"

    def _history(self, column: str) -> Table:
        table = Table("sample", column, "decision", "reason", box=None, pad_edge=False)
        for one in self._decisions:
            table.add_row(f"{one.sample}", one.values, one.decision, Text(one.reason))
        return table
