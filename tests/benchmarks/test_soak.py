"""Counts of the parts of a soak are added up by handler, and its largest growth is told."""

from experiments.soak import PARTS, handlers_of, is_number
from harness.experiment import Row, Task


def test_counts_are_added_up_by_handler_and_growth_is_the_largest() -> None:
    rows = [Row(Task("plain", part, 1), {"sent": 2, "growth_bytes": place}) for place, part in enumerate(PARTS)]
    found = handlers_of(rows, "plain")
    assert {name: counts["sent"] for name, counts in found.items()} == {"per_connection": 8, "pool": 8, "hybrid": 8}
    assert found["hybrid"]["most_growth_bytes"] == len(PARTS) - 1


def test_texts_of_the_program_that_are_no_counts_are_left_out() -> None:
    assert [is_number(value) for value in ("12", "-1", "passed", 3)] == [True, True, False, False]
