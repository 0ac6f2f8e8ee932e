"""What `poolpilot tune --watch` shows: state, configurations, throughput as bars, and the last decisions."""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from poolpilot.serve.commands.tune.tuner_screen import TunerScreen
from poolpilot.serve.commands.tuning.sparkline import ASCII_LEVELS, BLOCKS, sparkline
from poolpilot.serve.page.tuner_status import TunerStatus
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation

SHOWN_WINDOWS = 60
"""A line of 80 columns holds so many beside their name."""

SHOWN_DECISIONS = 8

STYLES = {
    State.TRIAL: "cyan",
    State.VERIFY: "cyan",
    State.HOLD: "green",
    State.ROLL_BACK: "bold red",
    State.COOL_DOWN: "yellow",
    State.STAND_DOWN: "yellow",
    State.OPEN_CIRCUIT: "bold red",
}


class TunerView(TunerScreen):
    """Follows the decisions of a tuner on a screen that is redrawn; line by line where none can be.

    Args:
        console: Where to draw.
        title: Shown above.
    """

    def __init__(self, console: Console, title: str) -> None:
        super().__init__(console)
        self._title = title
        self._levels = ASCII_LEVELS if console.options.ascii_only else BLOCKS
        self._rates: deque[float] = deque(maxlen=SHOWN_WINDOWS)
        self._lines: deque[tuple[str, TunerStatus, str]] = deque(maxlen=SHOWN_DECISIONS)
        self._now: tuple[Observation, Decision] | None = None
        self._live = Live(console=console, auto_refresh=False, get_renderable=self.view)

    @override
    def shown(self) -> AbstractContextManager[object]:
        """Draws for the duration of the block, unless there is no terminal or nothing on it can be drawn anew."""
        draws = self._console.is_terminal and not self._console.is_dumb_terminal
        return self._live if draws else super().shown()

    @override
    def add(self, observation: Observation, decision: Decision) -> None:
        """Takes a decision and draws it."""
        self._now = (observation, decision)
        if observation.reading is not None:
            self._rates.append(observation.reading.throughput_per_s)
        super().add(observation, decision)
        if self._live.is_started:
            self._live.refresh()

    @override
    def say(self, observation: Observation, status: TunerStatus, reason: str) -> None:
        """Keeps what is new for the screen, or prints it where there is none."""
        if not self._live.is_started:
            super().say(observation, status, reason)
            return
        clock = datetime.fromtimestamp(observation.unix_s).strftime("%H:%M:%S")
        self._lines.append((clock, status, reason))

    def view(self) -> Group:
        """What is on the screen now: of the last decisions as many as it has room for, since it is cut at its end."""
        title = Text(self._title, style="bold")
        if self._now is None:
            return Group(title, Text("The first window is being measured."))
        facts = Table.grid(padding=(0, 2))
        for name, text in self._facts(*self._now):
            facts.add_row(name, text)
        lines = list(self._lines)
        while not self._has_room_for(view := Group(title, facts, _table(lines))) and lines:
            del lines[0]
        return view

    def _has_room_for(self, view: Group) -> bool:
        return len(self._console.render_lines(view, pad=False)) <= self._console.height

    def _facts(self, observation: Observation, decision: Decision) -> Iterator[tuple[str, Text]]:
        if self._status is not None:
            yield "state", _styled(self._status)
        in_force = "not reached" if observation.in_force is None else str(observation.in_force)
        yield "in force", Text(f"{in_force}, incumbent {decision.incumbent}")
        if decision.would is not None:
            yield "would try", Text(str(decision.would))
        if self._rates:
            yield "throughput", Text(f"{sparkline(self._rates, self._levels)} {self._rates[-1]:.0f}/s")
        if observation.reading is not None and observation.reading.latency_ms is not None:
            yield "latency", Text(f"{observation.reading.latency_ms:.1f} ms")
        counts = f"{self.entered[State.TRIAL]}, rolled back {self.entered[State.ROLL_BACK]}"
        yield "trials", Text(f"{counts}; {self.turns} windows")


def _table(lines: Sequence[tuple[str, TunerStatus, str]]) -> Table:
    """Decisions as a table."""
    table = Table.grid(padding=(0, 2))
    for clock, status, reason in lines:
        table.add_row(clock, _styled(status), Text(reason))
    return table


def _styled(status: TunerStatus) -> Text:
    return Text(str(status), style="yellow" if status.lost_trial else STYLES.get(status.state, ""))
