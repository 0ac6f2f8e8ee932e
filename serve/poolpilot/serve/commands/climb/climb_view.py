"""What the screen of a climb says of its climber: of the pool size alone, or of many knobs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.native_pool import SpectralClimber

if TYPE_CHECKING:
    from poolpilot.native_pool._core import KnobState

AnyClimber = SpectralClimber | KnobClimbController
"""What may be followed: both have settings, a mode, records, and can adopt other settings."""


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """One decision, as a line of the screen.

    Attributes:
        sample: Number of the window it followed; 0 before the first.
        values: Where it led to.
        decision: One word for it.
        reason: Why, in a sentence.
    """

    sample: int
    values: str
    decision: str
    reason: str


class SizeView:
    """A climber of the pool size alone.

    Args:
        climber: The climber.
    """

    column = "pool size"

    def __init__(self, climber: SpectralClimber) -> None:
        self._climber = climber

    def facts(self) -> Iterator[tuple[str, str]]:
        """Names and texts, in the order of the screen."""
        latest = self._climber.latest
        yield "bracket", f"{latest['bracket_low']}..{latest['bracket_high']}, where the best size is believed to be"
        yield "wave", f"{latest['wave_low']}..{latest['wave_high']}"
        yield from _price_and_reason(self._climber)

    def tables(self) -> list[Table]:
        """None: the facts say it all."""
        return []

    def line(self) -> DecisionLine:
        """The latest decision."""
        one = self._climber.latest
        moved = f"{one['size']} to {one['next_size']}" if one["sample"] else f"{one['next_size']}"
        return DecisionLine(one["sample"], moved, one["decision"], one["reason"])


class KnobsView:
    """A climb of many knobs.

    Args:
        climbing: The controller that climbs them.
    """

    column = "around"

    def __init__(self, climbing: KnobClimbController) -> None:
        self._climbing = climbing

    def facts(self) -> Iterator[tuple[str, str]]:
        """Names and texts, in the order of the screen."""
        return _price_and_reason(self._climbing)

    def tables(self) -> list[Table]:
        """Every knob with its value, its wave and its elasticity."""
        table = Table("knob", "value", "wave", "elasticity", "error", box=None, pad_edge=False)
        held = self._climbing.mode == "OPTIMIZED"
        for name, state in self._climbing.latest["knobs"].items():
            table.add_row(name, f"{state['value']}", _wave(state, held=held), *_elasticity(state))
        return [table]

    def line(self) -> DecisionLine:
        """The latest decision, with the middles of the waves that it leads to."""
        one = self._climbing.latest
        middles = ", ".join(str(state["middle"]) for state in one["knobs"].values())
        return DecisionLine(one["sample"], f"({middles})", one["decision"], one["reason"])


def view_of(climber: AnyClimber) -> SizeView | KnobsView:
    """The view of a climber."""
    return KnobsView(climber) if isinstance(climber, KnobClimbController) else SizeView(climber)


def _price_and_reason(climber: AnyClimber) -> Iterator[tuple[str, str]]:
    yield "price", f"1 % more threads must buy {climber.settings.price_of_thread:g} % more"
    yield "latest", climber.latest["reason"]


def _wave(state: "KnobState", *, held: bool) -> str:
    if held or state["wave_low"] == state["wave_high"]:
        return "none, held"
    return f"{state['wave_low']}..{state['wave_high']}"


def _elasticity(state: "KnobState") -> tuple[str, str]:
    """Both numbers, or dashes where the knob has not been measured."""
    if state["ratio"] is None or not state["error"]:
        return "-", "-"
    return f"{state['ratio']:+.3f}", f"{state['error']:.3f}"
