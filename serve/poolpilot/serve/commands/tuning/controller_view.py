"""What the screen of a run says of its controller, whichever it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table

from poolpilot.agent.controllers.warm_start import WarmStart
from poolpilot.agent.search.round_controller import RoundController
from poolpilot.env.climbing.climb import ClimbController
from poolpilot.env.climbing.knob_climb import KnobClimbController
from poolpilot.env.controller import Controller
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.native_pool import SpectralClimber

if TYPE_CHECKING:
    from poolpilot.native_pool._core import KnobState


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


class ControllerView:
    """A controller that has nothing to show but its reason.

    Args:
        controller: The controller.
    """

    column = "configuration"
    """Heading of what decisions lead to."""

    line_by_line = False
    """Whether a reason is a line of its own where there is no terminal; else the screen is printed once, at the end."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    @property
    def reason(self) -> str:
        """Why the latest trial was suggested."""
        return self._controller.reason

    def mode(self) -> Iterator[tuple[str, str]]:
        """What it is doing, as name and text."""
        return iter(())

    def place(self, pool_tuple: PoolTuple) -> Iterator[tuple[str, str]]:
        """Where it stands, as name and text."""
        yield "configuration", f"{pool_tuple}"

    def facts(self) -> Iterator[tuple[str, str]]:
        """Names and texts, in the order of the screen."""
        yield "latest", self.reason

    def tables(self) -> list[Table]:
        """What stands below the facts."""
        return []

    def line(self) -> DecisionLine | None:
        """The latest decision; None where decisions are not listed."""
        return None


class SearchView(ControllerView):
    """A search in rounds.

    Args:
        search: The controller.
    """

    line_by_line = True

    def __init__(self, search: RoundController) -> None:
        super().__init__(search)
        self._search = search

    def facts(self) -> Iterator[tuple[str, str]]:
        """The best tuple so far, and why the latest was chosen."""
        best = self._search.observations.best
        if best is not None:
            yield "best so far", f"{best.pool_tuple}"
        yield "latest", self.reason


class SizeView(ControllerView):
    """A climb of the pool size alone.

    Args:
        controller: The controller.
        climber: Its climber.
    """

    column = "pool size"

    def __init__(self, controller: Controller, climber: SpectralClimber) -> None:
        super().__init__(controller)
        self._climber = climber

    def mode(self) -> Iterator[tuple[str, str]]:
        """USUAL while it climbs, OPTIMIZED while it holds."""
        yield "mode", self._climber.mode

    def place(self, pool_tuple: PoolTuple) -> Iterator[tuple[str, str]]:
        """The pool size."""
        yield "pool size", f"{pool_tuple.pool_size}"

    def facts(self) -> Iterator[tuple[str, str]]:
        """Its bracket and its wave, the price, and why it did what it did."""
        latest = self._climber.latest
        yield "bracket", f"{latest['bracket_low']}..{latest['bracket_high']}, where the best size is believed to be"
        yield "wave", f"{latest['wave_low']}..{latest['wave_high']}"
        yield from _price_and_reason(self._climber.settings.price_of_thread, latest["reason"])

    def line(self) -> DecisionLine:
        """The latest decision."""
        latest = self._climber.latest
        moved = f"{latest['size']} to {latest['next_size']}" if latest["sample"] else f"{latest['next_size']}"
        return DecisionLine(latest["sample"], moved, latest["decision"], latest["reason"])


class KnobsView(ControllerView):
    """A climb of many knobs.

    Args:
        climbing: The controller that climbs them.
    """

    column = "around"

    def __init__(self, climbing: KnobClimbController) -> None:
        super().__init__(climbing)
        self._climbing = climbing

    def mode(self) -> Iterator[tuple[str, str]]:
        """USUAL while it climbs, OPTIMIZED while it holds."""
        yield "mode", self._climbing.mode

    def place(self, pool_tuple: PoolTuple) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """Nothing: the table says it."""
        return iter(())

    def facts(self) -> Iterator[tuple[str, str]]:
        """The price, and why it did what it did."""
        return _price_and_reason(self._climbing.settings.price_of_thread, self._climbing.latest["reason"])

    def tables(self) -> list[Table]:
        """Every knob with its value, its wave and its elasticity."""
        table = Table("knob", "value", "wave", "elasticity", "error", box=None, pad_edge=False)
        held = self._climbing.mode == "OPTIMIZED"
        for name, state in self._climbing.latest["knobs"].items():
            table.add_row(name, f"{state['value']}", _wave(state, held=held), *_elasticity(state))
        return [table]

    def line(self) -> DecisionLine:
        """The latest decision, with the middles of the waves that it leads to."""
        latest = self._climbing.latest
        middles = ", ".join(str(state["middle"]) for state in latest["knobs"].values())
        return DecisionLine(latest["sample"], f"({middles})", latest["decision"], latest["reason"])


class ObservingView(ControllerView):
    """A climb that has not begun: the tuple in force is looked at, or what a model names is tried."""

    def mode(self) -> Iterator[tuple[str, str]]:
        """That it looks."""
        yield "mode", "observing: nothing is decided yet"

    def place(self, pool_tuple: PoolTuple) -> Iterator[tuple[str, str]]:
        """The pool size."""
        yield "pool size", f"{pool_tuple.pool_size}"

    def facts(self) -> Iterator[tuple[str, str]]:
        """None yet."""
        return iter(())


def view_of(controller: Controller) -> ControllerView:
    """The view of a controller as it is now; a warm start gets another once its climb has taken over."""
    if isinstance(controller, WarmStart):
        return ObservingView(controller) if controller.climb is None else view_of(controller.climb)
    if isinstance(controller, KnobClimbController):
        return KnobsView(controller)
    if isinstance(controller, ClimbController) and isinstance(controller.climber, SpectralClimber):
        return SizeView(controller, controller.climber)
    return SearchView(controller) if isinstance(controller, RoundController) else ControllerView(controller)


def _price_and_reason(price_of_thread: float, reason: str) -> Iterator[tuple[str, str]]:
    yield "price", f"1 % more threads must buy {price_of_thread:g} % more"
    yield "latest", reason


def _wave(state: "KnobState", *, held: bool) -> str:
    if held or state["wave_low"] == state["wave_high"]:
        return "none, held"
    return f"{state['wave_low']}..{state['wave_high']}"


def _elasticity(state: "KnobState") -> tuple[str, str]:
    """Both numbers, or dashes where the knob has not been measured."""
    if state["ratio"] is None or not state["error"]:
        return "-", "-"
    return f"{state['ratio']:+.3f}", f"{state['error']:.3f}"
