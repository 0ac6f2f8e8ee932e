"""What learning adds is the mean with its interval over families, and the median."""

from typing import Any

import pytest

from exploring_report import added, shown


def row(family: str, seed: int, gain: float) -> dict[str, Any]:
    return {"family": family, "seed": seed, "with": {"end": gain}, "without": {"end": 0.0}}


def test_draws_of_one_family_do_not_narrow_the_interval() -> None:
    gains = {"a": 0.0, "b": 0.2, "c": 0.4, "d": 0.6}
    once = added([row(family, 0, gain) for family, gain in gains.items()], "end")
    often = added([row(family, draw, gain) for family, gain in gains.items() for draw in range(5)], "end")
    assert once == pytest.approx(often)
    assert once["mean"] == pytest.approx(0.3)


def test_median_is_told_beside_the_mean() -> None:
    found = added([row("a", 0, 0.0), row("b", 0, 0.0), row("c", 0, 0.9)], "end")
    assert [found["mean"], found["median"]] == pytest.approx([0.3, 0.0])


def test_fewer_than_three_families_have_no_interval() -> None:
    assert shown(added([row("a", 0, 0.0)], "end")) == "+0.0 % (? to ?; median +0.0)"
