"""One floor, two questions: what is kept must stand beyond doubt, what is taken back must have fallen beyond chance."""

import math

import pytest

from poolpilot.env.floors import KeptFloor


@pytest.mark.parametrize(
    ("kept", "noise", "stands", "starves", "in_doubt"),
    [
        (0.5, 0.1, True, False, False),
        (0.31, 0.1, False, False, True),
        (0.29, 0.1, False, True, True),
        (0.2, 0.1, False, True, False),
        (0.2, 2.0, False, False, True),
        (0.0, 0.1, False, True, False),
        (0.3, 0.0, True, False, False),
    ],
    ids=["kept", "hardly kept", "hardly broken", "broken", "broken by chance", "gone", "at the floor"],
)
def test_doubt_speaks_against_what_is_to_be_kept_and_for_what_is_to_be_taken_back(
    kept: float, noise: float, stands: bool, starves: bool, in_doubt: bool
) -> None:
    floor = KeptFloor("long", 0.3, kept, noise)
    assert (floor.stands(1.0), floor.starves(1.0), floor.is_in_doubt(1.0)) == (stands, starves, in_doubt)


def test_nothing_falls_below_a_floor_of_nothing() -> None:
    floor = KeptFloor("long", 0.0, 0.0, 0.0)
    assert floor.stands(5.0)
    assert not floor.starves(0.0)


def test_few_completions_look_surer_than_they_are() -> None:
    few = KeptFloor("long", 0.5, 0.3, 0.1, expected=3.0)
    assert few.is_in_doubt(1.0)
    assert not KeptFloor("long", 0.5, 0.3, 0.1).is_in_doubt(1.0)


def test_headroom_is_in_errors_of_the_share() -> None:
    assert KeptFloor("long", 0.3, 0.5, 0.1).headroom == pytest.approx(0.2 / 0.05)
    assert math.isfinite(KeptFloor("rows read", 0.3, 0.5, 0.0, of_class=False).headroom)
