"""What `poolpilot tune` prints: a line where a decision says something new, and what came of all of them."""

from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table

from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.page.gist import gist
from poolpilot.serve.page.tuner_status import TunerStatus
from poolpilot.serve.tuner.machine.decision import Decision, State
from poolpilot.serve.tuner.machine.evidence.tuner_observation import Observation
from poolpilot.serve.tuner.machine.memory import Memory
from poolpilot.serve.tuner.machine.trying import booked

INCUMBENT_BY = {"tuner": "incumbent", "person": "set by a person", "nobody": "as found"}
"""What the last table calls the incumbent: no trial has shown that of a person, or one that was found."""


class TunerScreen:
    """Follows the decisions of a tuner.

    Args:
        console: Where they are printed.

    Attributes:
        turns: Decisions so far.
        windows: Those of them that a window was measured for: none is while the server is away.
        entered: How often each state was entered; that the incumbent comes back after a lost connection has ended
            a trial is no roll-back.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._said = ""
        self._status: TunerStatus | None = None
        self.turns = self.windows = 0
        self.entered: Counter[State] = Counter()

    def add(self, observation: Observation, decision: Decision) -> None:
        """Takes a decision, and prints it where it says something new."""
        self.turns += 1
        self.windows += observation.reading is not None
        said, before = gist(decision.reason, hindered=bool(observation.hindrances)), self._status
        status = self._status = TunerStatus.of(observation, decision.state, before)
        if status.is_entered_from(before):
            self.entered[decision.state] += not status.lost_trial
        elif said == self._said or decision.routine:
            return
        self._said = said
        self.say(observation, status, decision.reason)

    def shown(self) -> AbstractContextManager[object]:
        """Shows for the duration of the block."""
        return nullcontext()

    def say(self, observation: Observation, status: TunerStatus, reason: str) -> None:
        """Prints a decision."""
        clock = datetime.fromtimestamp(observation.unix_s).strftime("%H:%M:%S")
        rate = "" if observation.reading is None else f" {observation.reading.throughput_per_s:8.0f}/s"
        in_force = "-" if observation.in_force is None else str(observation.in_force)
        self._console.print(f"{clock}{rate}  {in_force}  {status}: {reason}", soft_wrap=True)


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
        "initial": first.as_dict(),
        "incumbent": memory.incumbent.as_dict(),
        "incumbent_by": "tuner" if memory.incumbent != memory.initial else found,
        "windows": screen.windows,
        "trials": screen.entered[State.TRIAL],
        "roll_backs": screen.entered[State.ROLL_BACK],
        "lost_requests": booked(memory),
        "state": memory.state,
    }


def summary_table(values: dict[str, Any]) -> Table:
    """The summary as people read it."""
    table = Table(title="Tuner", show_header=False, title_justify="left")
    table.add_row("initial configuration", str(PoolTuple.from_dict(values["initial"])))
    table.add_row(INCUMBENT_BY[values["incumbent_by"]], str(PoolTuple.from_dict(values["incumbent"])))
    table.add_row("windows", str(values["windows"]))
    table.add_row("trials", f"{values['trials']}, rolled back {values['roll_backs']}")
    lost = values["lost_requests"]
    table.add_row("trials cost" if lost >= 0.0 else "trials gained", f"{abs(lost):.0f} requests")
    return table
