"""Contenders in slices: all open at once, one measured at a time, and who fails is told and left out."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from poolpilot.errors import ServerError
from poolpilot.pipelines.bench.serving.rounds import rounds
from poolpilot.pipelines.bench.serving.sliced import MOST_SLICES, SlicedCell, slices_for


class Watched:
    """Contenders that note what happens to them."""

    def __init__(self, refuses: str = "", fails: str = "") -> None:
        self.refuses, self.fails = refuses, fails
        self.open: set[str] = set()
        self.slices: list[tuple[str, float]] = []
        self.open_at_slices: list[set[str]] = []

    def cell(self, slices: int = 4) -> SlicedCell:
        """Three of them, two seconds each."""
        return SlicedCell("part", "cell", {name: partial(self.opened, name) for name in "abc"}, 2.0, slices)

    @contextmanager
    def opened(self, name: str) -> Iterator["One"]:
        """One of them."""
        if name == self.refuses:
            raise ServerError(f"{name} cannot be opened")
        self.open.add(name)
        yield One(self, name)
        self.open.remove(name)


class One:
    """A contender that is open."""

    def __init__(self, all_of_them: Watched, name: str) -> None:
        self._all, self._name = all_of_them, name

    def measure(self, seconds: float) -> None:
        """Notes a slice."""
        if self._name == self._all.fails and self._all.slices:
            raise ServerError(f"{self._name} has ended")
        self._all.slices.append((self._name, seconds))
        self._all.open_at_slices.append(set(self._all.open))

    def measures(self) -> dict[str, float]:
        """How long it was measured."""
        return {"seconds": sum(seconds for name, seconds in self._all.slices if name == self._name)}


def test_all_are_open_while_each_has_its_slices() -> None:
    watched = Watched()
    assert dict(watched.cell().measured("abc")) == {name: {"seconds": 2.0} for name in "abc"}
    assert sorted(watched.slices) == [(name, 0.5) for name in "aaaabbbbcccc"]
    assert watched.open_at_slices == [set("abc")] * 12
    assert watched.open == set()
    firsts = [name for name, _ in watched.slices[::3]]
    assert len(set(firsts)) > 1


@pytest.mark.parametrize(("refuses", "fails"), [("b", ""), ("", "b")])
def test_who_fails_is_told_and_the_others_measured(refuses: str, fails: str) -> None:
    watched = Watched(refuses, fails)
    results = rounds([watched.cell()], 2, None)
    reason = "b cannot be opened" if refuses else "b has ended"
    assert results.refused == {("part", "cell", "b"): reason}
    assert {name: len(columns["seconds"]) for name, columns in results.repeats("part", "cell").items()} == {
        "a": 2,
        "c": 2,
    }
    assert watched.open == set()


def test_a_cell_that_is_done_is_not_opened_again() -> None:
    watched = Watched()
    assert list(watched.cell().measured([])) == []
    assert watched.slices == []


def test_more_connections_have_fewer_slices() -> None:
    assert slices_for(1) == slices_for(1024) == MOST_SLICES
    assert slices_for(16_384) == 2
    assert 2 < slices_for(2048) <= slices_for(1024)
