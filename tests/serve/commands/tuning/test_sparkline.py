"""The little bars rise with the numbers."""

from poolpilot.serve.commands.tuning.sparkline import ASCII_LEVELS, BLOCKS, sparkline


def test_lowest_and_highest_levels_are_the_smallest_and_greatest_values() -> None:
    assert sparkline([3.0, 1.0, 2.0, 9.0]) == f"{BLOCKS[2]}{BLOCKS[0]}{BLOCKS[1]}{BLOCKS[-1]}"


def test_equal_values_are_level_and_no_values_are_nothing() -> None:
    assert sparkline([7.0, 7.0]) == BLOCKS[0] * 2
    assert sparkline([]) == ""


def test_other_levels_may_be_chosen() -> None:
    assert sparkline([0.0, 1.0], ASCII_LEVELS) == "_@"
