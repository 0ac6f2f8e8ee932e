"""What `poolpilot tune` prints: a line where a decision says something new, and what came of all of them."""

from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.page.gist import gist
from poolpilot.serve.page.standing import Standing
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.look import Look
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.trying import booked

VERIFIED_BY = {"tuner": "verified", "person": "set by a person", "nobody": "as found"}
"""What the last table calls the configuration that is to come back: no try has shown that of a person, or one found."""


class TunerScreen:
    """Follows the decisions of a tuner.

    Args:
        console: Where they are printed.

    Attributes:
        turns: Decisions so far.
        windows: Those of them that a window was measured for: none is while the server is away.
        entered: How often each state was entered; the way back from a try that a lost connection has ended is no
            roll-back.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said = ""
        self._stands: Standing | None = None
        self.turns = self.windows = 0
        self.entered: Counter[State] = Counter()

    def add(self, look: Look, decision: Decision) -> None:
        """Takes a decision, and prints it where it says something new."""
        self.turns += 1
        self.windows += look.reading is not None
        said, before = gist(decision.reason, hindered=bool(look.hindrances)), self._stands
        stands = self._stands = Standing.of(look, decision.state, before)
        if stands.is_entered_from(before):
            self.entered[decision.state] += not stands.lost_try
        elif said == self._said or decision.routine:
            return
        self._said = said
        self.say(look, stands, decision.reason)

    def shown(self) -> AbstractContextManager[object]:
        """Shows for the duration of the block."""
        return nullcontext()

    def say(self, look: Look, stands: Standing, reason: str) -> None:
        """Prints a decision."""
        clock = datetime.fromtimestamp(look.unix_s).strftime("%H:%M:%S")
        rate = "" if look.reading is None else f" {look.reading.throughput_per_s:8.0f}/s"
        in_force = "-" if look.in_force is None else str(look.in_force)
        self._console.print(f"{clock}{rate}  {in_force}  {stands}: {reason}", soft_wrap=True)


def summary(first: PoolTuple, memory: Memory, screen: TunerScreen, *, found_by_person: bool = False) -> dict[str, Any]:
    """What came of a run, fit for JSON.

    Args:
        first: What was in force when it began.
        memory: What the tuner remembers at its end.
        screen: What has followed its decisions.
        found_by_person: Whether a person has set what it began with last (`TunerLoop.found_by_person`).
    """
    found = "person" if found_by_person else "nobody"
    return {
        "first": first.as_dict(),
        "verified": memory.verified.as_dict(),
        "verified_by": "tuner" if memory.verified != memory.home else found,
        "windows": screen.windows,
        "tries": screen.entered[State.TRY],
        "roll_backs": screen.entered[State.ROLL_BACK],
        "lost_requests": booked(memory),
        "state": memory.state,
    }


def summary_table(values: dict[str, Any]) -> Table:
    """The summary as people read it."""
    table = Table(title="Tuner", show_header=False, title_justify="left")
    table.add_row("at first", str(PoolTuple.from_dict(values["first"])))
    table.add_row(VERIFIED_BY[values["verified_by"]], str(PoolTuple.from_dict(values["verified"])))
    table.add_row("windows", str(values["windows"]))
    table.add_row("tries", f"{values['tries']}, taken back {values['roll_backs']}")
    lost = values["lost_requests"]
    table.add_row("tries cost" if lost >= 0.0 else "tries gained", f"{abs(lost):.0f} requests")
    return table
