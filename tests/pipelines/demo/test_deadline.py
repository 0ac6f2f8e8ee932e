"""What is left of a demonstration's time is shared, and said."""

import pytest

from poolpilot.pipelines.demo.deadline import Deadline


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_a_part_ends_within_the_whole_and_leaves_what_it_saved_to_the_others() -> None:
    clock = Clock()
    whole = Deadline.after(90.0, clock)
    first = whole.part(1.0 / 3.0)
    assert first.left_s == pytest.approx(30.0)
    clock.seconds += 12.0  # done early
    assert whole.part(1.0 / 2.0).left_s == pytest.approx(39.0)
    clock.seconds += 100.0  # a busy machine: nothing is left, and never less
    assert (whole.left_s, whole.is_past, whole.part(1.0).left_s) == (0.0, True, 0.0)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (221.0, "about 3 min 40 s left"),
        (59.0, "about 1 min 0 s left"),
        (33.0, "about 35 s left"),
        (0.0, "about 0 s left"),
    ],
)
def test_what_is_left_in_words(seconds: float, said: str) -> None:
    assert Deadline.after(seconds, Clock()).in_words() == said
