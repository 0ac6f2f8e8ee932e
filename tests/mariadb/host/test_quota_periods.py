"""Throttled periods between two readings are those of the group that was throttled most."""

from pathlib import Path

import pytest

from poolpilot.mariadb.host.quota_periods import (
    USED_UP,
    Throttling,
    cpus_in_words,
    most_throttled,
    used_up_in_words,
)

POD, OWN = Path("pod"), Path("pod/mariadb")


def test_group_that_was_throttled_most_counts() -> None:
    before = {POD: Throttling(100.0, 50.0, 9e6), OWN: Throttling(10.0, 0.0, 0.0)}
    after = {POD: Throttling(200.0, 60.0, 9.5e6), OWN: Throttling(30.0, 15.0, 1e6)}
    assert most_throttled(before, after) == Throttling(20.0, 15.0, 1e6)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({}, {OWN: Throttling(9.0, 9.0, 9.0)}),  # not there before
        ({OWN: Throttling(9.0, 9.0, 9.0)}, {}),
        ({OWN: Throttling(9.0, 9.0, 9.0)}, {OWN: Throttling(3.0, 3.0, 3.0)}),  # made anew in between
    ],
)
def test_groups_that_are_not_the_same_at_both_readings_tell_nothing(
    before: dict[Path, Throttling], after: dict[Path, Throttling]
) -> None:
    assert most_throttled(before, after) is None


def test_no_period_is_no_share() -> None:
    assert Throttling().share == 0.0
    assert most_throttled({OWN: Throttling()}, {OWN: Throttling()}) == Throttling()


@pytest.mark.parametrize(
    ("cpus", "said"),
    [
        (0.001, "0.001 processors"),
        (1 / 3, "0.333 processors"),
        (0.4, "0.4 processors"),
        (1, "1 processor"),
        (1.05, "1.05 processors"),
        (2.0, "2 processors"),
        (4096.0, "4096 processors"),
    ],
)
def test_processors_are_told_as_a_fraction(cpus: float, said: str) -> None:
    assert cpus_in_words(cpus) == said


def test_quota_is_named_once_it_holds_the_server_back() -> None:
    assert used_up_in_words(0.4, USED_UP / 2) is None
    said = used_up_in_words(0.4, 80 / 91)
    assert said is not None
    assert said.startswith("the CPU quota of 0.4 processors is used up: raise it")
    assert said == used_up_in_words(0.4, 0.5), "who repeats it each window says nothing new"
    assert str(used_up_in_words(None, 1.0)).startswith("the CPU quota is used up: ")
