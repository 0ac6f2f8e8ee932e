"""Rounds interleave their contenders, keep what is done, go on from it, and leave out who cannot be measured."""

from functools import partial
from pathlib import Path

import pytest

from poolpilot.errors import ServerError
from poolpilot.pipelines.bench.serving.rounds import Cell, in_turn, processors_awake, rounds


class Contenders:
    """Three that note when they are measured."""

    def __init__(self) -> None:
        self.measured: list[str] = []

    def cell(self, failing: str = "") -> Cell:
        """All three; one of them may fail."""

        def contender(name: str) -> dict[str, float]:
            if name == failing:
                raise ServerError(f"{name} cannot be opened")
            self.measured.append(name)
            return {"value": float(len(self.measured))}

        return Cell("part", "cell", {name: partial(contender, name) for name in "abc"})


def test_each_repeat_runs_everyone_once_begun_with_another() -> None:
    contenders = Contenders()
    rounds([contenders.cell()], 3, None)
    by_repeat = [contenders.measured[i : i + 3] for i in (0, 3, 6)]
    assert all(sorted(one) == ["a", "b", "c"] for one in by_repeat)
    assert len({one[0] for one in by_repeat}) > 1


def test_everyone_stands_everywhere_as_often() -> None:
    orders = ["".join(in_turn("abc", repeat)) for repeat in range(6)]
    for place in range(3):
        assert sorted(order[place] for order in orders) == ["a", "a", "b", "b", "c", "c"]


def test_a_later_call_goes_on_from_what_is_kept(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    first = rounds([Contenders().cell()], 2, kept)
    with kept.open("a") as file:
        file.write('["", "part", "cell", "a", 2, {"val')  # torn by the end of the process
    again = Contenders()
    results = rounds([again.cell()], 3, kept)
    assert sorted(again.measured) == ["a", "b", "c"]
    assert first.measures.items() <= results.measures.items()
    assert rounds([Contenders().cell()], 3, kept).measures == results.measures


def test_trials_of_other_settings_are_left_out(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"
    kept.write_text('["part", "cell", "a", 0, {"value": 1.0}]\n')  # as an older release has kept them
    rounds([Contenders().cell()], 1, kept, "some")
    other, again = Contenders(), Contenders()
    rounds([other.cell()], 1, kept, "others")
    rounds([again.cell()], 1, kept, "some")
    assert (sorted(other.measured), again.measured) == (["a", "b", "c"], [])


def test_who_cannot_be_measured_is_told_and_left_out() -> None:
    contenders = Contenders()
    results = rounds([contenders.cell(failing="b")], 2, None)
    assert results.refused == {("part", "cell", "b"): "b cannot be opened"}
    assert set(results.repeats("part", "cell")) == {"a", "c"}
    assert sorted(contenders.measured) == ["a", "a", "c", "c"]


def test_an_interrupt_leaves_what_is_done(tmp_path: Path) -> None:
    kept = tmp_path / "runs.jsonl"

    def interrupted() -> dict[str, float]:
        raise KeyboardInterrupt

    cells = [Contenders().cell(), Cell("part", "other", {"a": interrupted})]
    with pytest.raises(KeyboardInterrupt):
        rounds(cells, 1, kept)
    assert len(kept.read_text().splitlines()) == 3


def test_no_latency_is_asked_for_as_long_as_the_block_lasts(tmp_path: Path) -> None:
    request = tmp_path / "cpu_dma_latency"
    with processors_awake(request) as awake:
        assert awake
        assert request.read_bytes() == bytes(4)


def test_where_the_system_does_not_let_us_it_is_told(tmp_path: Path) -> None:
    with processors_awake(tmp_path / "missing" / "cpu_dma_latency") as awake:
        assert not awake
