"""The live screen of the demonstration."""

from contextlib import AbstractContextManager, nullcontext

from rich.console import Console
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from poolpilot.env.measurement.protocol import Measured
from poolpilot.env.tuning.loop import TuningStep
from poolpilot.pipelines.demo.phases import Watcher

BARS = "▁▂▃▄▅▆▇█"
SHOWN = 72


class DemoScreen(Watcher):
    """Shows the phase, the tuple in force and the goodput of the last windows as bars.

    Args:
        console: Where to draw; where it is no terminal, one line a phase is printed instead.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._title = ""
        self._goodputs: list[float] = []
        self._line = ""
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def shown(self) -> AbstractContextManager[object]:
        """Draws for the duration of the block."""
        return self._live if self._console.is_terminal else nullcontext()

    def phase(self, workload: str, name: str) -> None:
        """Begins a phase with empty bars."""
        self._title, self._goodputs = f"{workload}: {name}", []
        if not self._console.is_terminal:
            self._console.print(f"{self._title} ...")

    def step(self, step: TuningStep) -> None:
        """Adds a window of a climb."""
        self._goodputs.append(step.goodput_per_s)
        self._line = f"{step.end_s:5.1f} s   {step.pool_tuple}   {step.goodput_per_s:.0f} in time a second"
        self._draw()

    def measured(self, one: Measured) -> None:
        """Adds a window of the sweep or of the comparison."""
        self._goodputs.append(one.window.throughput_per_s)
        self._line = f"{one.window.pool_tuple}   {one.window.throughput_per_s:.0f} a second"
        self._draw()

    def _draw(self) -> None:
        if not self._console.is_terminal:
            return
        shown = self._goodputs[-SHOWN:]
        highest = max(*shown, 1e-9) if len(shown) > 1 else max(shown[0], 1e-9)
        bars = "".join(BARS[min(int(value / highest * len(BARS)), len(BARS) - 1)] for value in shown)
        self._live.update(Panel(Text(f"{bars}\n{self._line}"), title=self._title, title_align="left"), refresh=True)
