"""Contenders side by side: every repeat runs each of a cell once, in another order; what is done is kept."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from rich.progress import Progress

from poolpilot.featurizer.errors import ServerError
from poolpilot.native_pool.load_handle import LoadError
from poolpilot.pipelines.bench.serving.trial import Measures

Contender = Callable[[], Measures]
"""Measures once."""


@dataclass(frozen=True)
class Cell:
    """What is compared with what.

    Attributes:
        part: The part of the benchmark it belongs to.
        name: The same for all its contenders, such as the load.
        contenders: Who is measured, by name.
    """

    part: str
    name: str
    contenders: Mapping[str, Contender]


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

    def repeats(self, part: str, cell: str) -> dict[str, dict[str, list[float]]]:
        """Values of a cell in the order of the repeats, by contender and measure."""
        found: dict[str, dict[str, list[float]]] = {}
        keys = [key for key in self.measures if (key.part, key.cell) == (part, cell)]
        for key in sorted(keys, key=lambda key: key.repeat):
            columns = found.setdefault(key.contender, defaultdict(list))
            for name, value in self.measures[key].items():
                columns[name].append(value)
        return found


def rounds(cells: Sequence[Cell], repeats: int, kept: Path | None) -> Results:
    """Runs every cell's contenders `repeats` times, interleaved.

    A contender that cannot be opened in a cell is left out of it from then on, and its reason is told.

    Args:
        cells: What to compare.
        repeats: How often.
        kept: File of trials, one JSON object a line, that a later call goes on from; None keeps nothing.

    Raises:
        KeyboardInterrupt: The user ended it; the file holds what is done.
    """
    results = Results()
    for key, measures in read_trials(kept):
        results.measures[key] = measures
    total = repeats * sum(len(cell.contenders) for cell in cells)
    with Progress(transient=True) as progress, opened_for_more(kept) as out:
        bar = progress.add_task("trials", total=total)
        for repeat in range(repeats):
            for cell in cells:
                for name, contender in in_turn(cell.contenders, repeat):
                    progress.update(bar, description=f"{cell.part}, {cell.name}: {name}", advance=1)
                    _measure(results, Key(cell.part, cell.name, name, repeat), contender, out)
    return results


def in_turn(contenders: Mapping[str, Contender], repeat: int) -> list[tuple[str, Contender]]:
    """The contenders, begun with another one in each repeat, backwards in every other."""
    order = list(contenders.items())
    first = repeat % len(order)
    order = order[first:] + order[:first]
    return order[::-1] if repeat % 2 else order


def _measure(results: Results, key: Key, contender: Contender, out: TextIO | None) -> None:
    place = (key.part, key.cell, key.contender)
    if key in results.measures or place in results.refused:
        return
    try:
        measures = contender()
    except (ServerError, LoadError) as error:
        results.refused[place] = f"{error}"
        return
    results.measures[key] = measures
    if out is not None:
        line = [key.part, key.cell, key.contender, key.repeat, measures]
        out.write(json.dumps(line) + "\n")
        out.flush()


def read_trials(kept: Path | None) -> Iterator[tuple[Key, Measures]]:
    """The trials of a file; a torn last line is left out."""
    if kept is None or not kept.exists():
        return
    for line in kept.read_text().splitlines():
        if line.endswith("}]"):
            *place, measures = json.loads(line)
            yield Key(*place), measures


@contextmanager
def opened_for_more(kept: Path | None) -> Iterator[TextIO | None]:
    """The file, to append to, after a line end where the last line is torn."""
    if kept is None:
        yield None
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    torn = kept.exists() and kept.read_text()[-1:] not in ("", "\n")
    with kept.open("a") as out:
        out.write("\n" if torn else "")
        yield out
