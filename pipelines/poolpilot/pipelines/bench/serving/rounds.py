"""Contenders side by side: every repeat runs each of a cell once, in another order; what is done is kept.

Processors may be kept awake meanwhile. A request that finds its processor idle pays for waking it; in a virtual machine
that is the host's matter: with one connection it is ten times the request's own cost, and as unsteady as the host is
busy. Linux keeps processors out of idle states for as long as a file is open that asks for no latency (its "PM Quality
of Service" interface).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Protocol, TextIO

from poolpilot.env.output import terminal
from poolpilot.errors import ServerError
from poolpilot.pipelines.bench.serving.trial import Measures
from poolpilot.pipelines.kept_runs import keep_run, opened_for_more, read_runs
from poolpilot.pipelines.progress_bars import new_progress

Contender = Callable[[], Measures]
"""Measures once."""


Outcome = tuple[str, Measures | str]
"""A contender, and what it measured or why it could not be measured."""


class AnyCell(Protocol):
    """What is compared with what, however that is measured."""

    @property
    def part(self) -> str:
        """The part of the benchmark it belongs to."""

    @property
    def name(self) -> str:
        """The same for all its contenders, such as the load."""

    @property
    def contenders(self) -> Mapping[str, object]:
        """Who is measured, by name."""

    def measured(self, names: Sequence[str]) -> Iterator[Outcome]:
        """Measures some contenders once each, or tells why one cannot be."""


@dataclass(frozen=True)
class Cell:
    """What is compared with what, one contender after the other.

    Attributes:
        part: The part of the benchmark it belongs to.
        name: The same for all its contenders, such as the load.
        contenders: Who is measured, by name.
    """

    part: str
    name: str
    contenders: Mapping[str, Contender]

    def measured(self, names: Sequence[str]) -> Iterator[Outcome]:
        """See `AnyCell.measured`."""
        for name in names:
            try:
                yield name, self.contenders[name]()
            except ServerError as error:
                yield name, f"{error}"


@dataclass(frozen=True, slots=True)
class Key:
    """A trial: which contender of which cell, in which repeat."""

    part: str
    cell: str
    contender: str
    repeat: int


@dataclass(frozen=True)
class Results:
    """What was measured.

    Attributes:
        measures: By trial.
        refused: Why a contender could not be measured in a cell, by (part, cell, contender).
    """

    measures: dict[Key, Measures] = field(default_factory=dict)
    refused: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def knows(self, key: Key) -> bool:
        """Whether a trial is done, or its contender left out."""
        return key in self.measures or (key.part, key.cell, key.contender) in self.refused

    def add(self, key: Key, outcome: Measures | str, asked: str, out: TextIO | None) -> None:
        """Takes a trial, and keeps it with what it was measured under; a reason leaves its contender out."""
        if isinstance(outcome, str):
            self.refused[(key.part, key.cell, key.contender)] = outcome
            return
        self.measures[key] = outcome
        keep_run([asked, key.part, key.cell, key.contender, key.repeat, outcome], out)

    def repeats(self, part: str, cell: str) -> dict[str, dict[str, list[float]]]:
        """Values of a cell in the order of the repeats, by contender and measure."""
        found: dict[str, dict[str, list[float]]] = {}
        keys = [key for key in self.measures if (key.part, key.cell) == (part, cell)]
        for key in sorted(keys, key=lambda key: key.repeat):
            columns = found.setdefault(key.contender, defaultdict(list))
            for name, value in self.measures[key].items():
                columns[name].append(value)
        return found


def rounds(cells: Sequence[AnyCell], repeats: int, kept: Path | None, asked: str = "") -> Results:
    """Runs every cell's contenders `repeats` times, interleaved.

    A contender that cannot be opened in a cell is left out of it from then on, and its reason is told.

    Args:
        cells: What to compare.
        repeats: How often.
        kept: File of trials, one JSON array a line, that a later call goes on from; None keeps nothing.
        asked: What the trials are measured under; those of something else in the file are left out.

    Raises:
        KeyboardInterrupt: The user ended it; the file holds what is done.
    """
    results = Results()
    for key, measures in read_trials(kept, asked):
        results.measures[key] = measures
    total = repeats * sum(len(cell.contenders) for cell in cells)
    with new_progress(terminal(), transient=True) as progress, opened_for_more(kept) as out:
        bar = progress.add_task("trials", total=total, shown="")
        for repeat in range(repeats):
            for cell in cells:
                progress.update(bar, shown=f"{cell.part}, {cell.name}")
                names = in_turn(cell.contenders, repeat)
                left = [name for name in names if not results.knows(Key(cell.part, cell.name, name, repeat))]
                progress.advance(bar, len(names) - len(left))
                for name, outcome in cell.measured(left):
                    results.add(Key(cell.part, cell.name, name, repeat), outcome, asked, out)
                    progress.advance(bar)
    return results


def in_turn(names: Iterable[str], repeat: int) -> list[str]:
    """The contenders, begun with another one in each repeat, backwards in every other."""
    order = list(names)
    first = repeat % max(len(order), 1)
    order = order[first:] + order[:first]
    return order[::-1] if repeat % 2 else order


def read_trials(kept: Path | None, asked: str) -> Iterator[tuple[Key, Measures]]:
    """The trials of a file that were measured under what is asked."""
    for measured_under, *place, measures in read_runs(kept):
        if measured_under == asked and len(place) == len(fields(Key)):
            yield Key(*place), measures


LATENCY_REQUEST = Path("/dev/cpu_dma_latency")
NO_LATENCY = (0).to_bytes(4, "little")


@contextmanager
def processors_awake(request: Path = LATENCY_REQUEST) -> Iterator[bool]:
    """Keeps all processors awake during a block; false where the system does not let us."""
    try:
        file = request.open("wb", buffering=0)
    except OSError:
        yield False
        return
    with file:
        file.write(NO_LATENCY)
        yield True
