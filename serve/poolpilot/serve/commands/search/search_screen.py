"""The live screen of a search: the round, what it tries and why, and the best so far."""

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import fmean

from rich.console import Console
from rich.text import Text

from poolpilot.agent.search.search_controller import SearchController
from poolpilot.env.climbing.climb import ClimbStep
from poolpilot.env.tuning.live_screen import LiveScreen


class SearchScreen(LiveScreen):
    """The state of a search, redrawn after each window; where there is no terminal, a line for every round.

    Args:
        title: Shown above.
        console: Where to draw.
        goodput: What goodput is called.
    """

    def __init__(self, title: str, console: Console, goodput: str) -> None:
        self._round: list[float] = []
        self._reason = "the tuple at the start"
        self._best = ""
        super().__init__(title, console, goodput)

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
        if self._console.is_terminal:
            self._redraw()

    def tell(self, controller: SearchController) -> None:
        """Takes what the controller has decided after the latest window."""
        best = controller.observations.best
        self._best = "" if best is None else f"{best.pool_tuple}"
        if controller.reason == self._reason:
            return
        if not self._console.is_terminal:
            self._console.print(f"{self._reason}; {self._goodput}: {fmean(self._round):.0f}", soft_wrap=True)
        self._reason, self._round = controller.reason, []

    def _facts(self) -> Iterator[tuple[str, str]]:
        yield from self._measured()
        if self._steps:
            yield "tuple", f"{self._steps[-1].pool_tuple}"
        if self._best:
            yield "best so far", self._best
        yield "latest", self._reason
