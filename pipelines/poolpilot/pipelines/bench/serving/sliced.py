"""Contenders that are measured in turns of a fraction of a second, so that none has the machine's better moments.

The speed of a shared machine drifts by tens of percent within seconds, which trials of seconds one after the other
cannot tell from a difference of the contenders. All of a cell are open at once here; one has its load at a time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Protocol

from poolpilot.errors import ServerError
from poolpilot.pipelines.bench.serving.rounds import Outcome, in_turn
from poolpilot.pipelines.bench.serving.trial import Measures

MOST_SLICES = 8
SLICED_CONNECTIONS = 8192
"""What stops and goes on has to answer each connection once: the more there are, the fewer and longer the slices."""


class RunningContender(Protocol):
    """A server under its load, which stands still at first."""

    def measure(self, seconds: float) -> None:
        """Lets the load go on and measures for some seconds; it stands still again then."""

    def measures(self) -> Measures:
        """What was measured, all slices together."""


Opening = Callable[[], AbstractContextManager[RunningContender]]
"""Opens a contender."""


@dataclass(frozen=True)
class SlicedCell:
    """What is compared with what, in slices; as `rounds.Cell`.

    Attributes:
        part: The part of the benchmark it belongs to.
        name: The same for all its contenders, such as the load.
        contenders: Who is measured, by name.
        window_s: How long each is measured.
        slices: In so many turns.
    """

    part: str
    name: str
    contenders: Mapping[str, Opening]
    window_s: float
    slices: int

    def measured(self, names: Sequence[str]) -> Iterator[Outcome]:
        """Measures some contenders side by side, or tells why one cannot be."""
        with ExitStack() as opened:
            running: dict[str, RunningContender] = {}
            for name in names:
                try:
                    running[name] = opened.enter_context(self.contenders[name]())
                except ServerError as error:
                    yield name, f"{error}"
            for number in range(self.slices):
                for name in in_turn(running, number):
                    try:
                        running[name].measure(self.window_s / self.slices)
                    except ServerError as error:
                        del running[name]
                        yield name, f"{error}"
            yield from [(name, one.measures()) for name, one in running.items()]


def slices_for(connections: int) -> int:
    """Into how many slices a window falls."""
    return min(max(SLICED_CONNECTIONS // connections, 2), MOST_SLICES)
