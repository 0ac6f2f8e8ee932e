"""What a demonstration shows while it measures: one line with the time that is left, and the first result at once."""

from contextlib import AbstractContextManager, nullcontext

from rich.console import Console
from rich.live import Live
from rich.text import Text

from poolpilot.env.measurement.protocol import Measured
from poolpilot.env.tuning.loop import TuningStep, TuningTrace
from poolpilot.pipelines.demo.deadline import Deadline
from poolpilot.pipelines.demo.phases import Watcher


class DemoScreen(Watcher):
    """Shows the phase, the configuration in force and the time that is left.

    Args:
        console: Where to draw; where it is no terminal, a line is printed for each phase.
        deadline: When the demonstration ends.
        place: Which of the workloads this is, such as "1 of 3".
    """

    def __init__(self, console: Console, deadline: Deadline, place: str) -> None:
        self._console = console
        self._deadline = deadline
        self._place = place
        self._title = ""
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def shown(self) -> AbstractContextManager[object]:
        """Draws for the duration of the block."""
        return self._live if self._console.is_terminal else nullcontext()

    def phase(self, workload: str, name: str) -> None:
        """Begins a phase."""
        self._title = f"{workload} ({self._place}), {name}"
        if not self._console.is_terminal:
            self._console.print(f"{self._title}; {self._deadline.in_words()}", highlight=False)

    def warmed(self, trace: TuningTrace) -> None:
        """Prints what the warm start came to: the first result of a workload."""
        first, last = trace.steps[0], trace.steps[-1]
        change = f"{first.goodput_per_s:.0f} -> {last.goodput_per_s:.0f} requests in time a second"
        left_s = max((step.end_s for step in trace.steps if step.pool_tuple != last.pool_tuple), default=0.0)
        since = f", in force after {left_s:.1f} s" if left_s else ""
        line = f"Warm start: {first.pool_tuple} -> {last.pool_tuple}{since}; {change}."
        self._console.print(line, highlight=False, soft_wrap=True)

    def step(self, step: TuningStep) -> None:
        """Shows a window of a climb."""
        self._draw(f"{step.pool_tuple}: {step.goodput_per_s:.0f} in time a second")

    def measured(self, one: Measured) -> None:
        """Shows a window of the sweep or of the comparison."""
        self._draw(f"{one.window.pool_tuple}: {one.window.throughput_per_s:.0f} a second")

    def _draw(self, now: str) -> None:
        if self._console.is_terminal:
            line = Text(f"{self._title}, {now}; {self._deadline.in_words()}", overflow="ellipsis", no_wrap=True)
            self._live.update(line, refresh=True)
