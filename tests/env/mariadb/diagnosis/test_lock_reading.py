"""Who is meant by the number of a transaction, which several may share."""

import pytest

from poolpilot.env.mariadb.diagnosis.lock_reading import _owners

Row = tuple[str, int, int, int | None, int]


@pytest.mark.parametrize(
    ("rows", "owners"),
    [
        ([("7", 50, 3, None, 2), ("8", 60, 3, 1, 2)], {"7": 50, "8": 60}),
        ([("0", 50, 3, None, 2), ("0", 60, 9, None, 0), ("8", 70, 1, 1, 2)], {"0": 50, "8": 70}),
        ([("0", 60, 9, None, 0), ("0", 50, 3, None, 2)], {"0": 50}),
        ([("0", 50, 3, None, 2), ("0", 60, 9, None, 1)], {}),
        ([("0", 50, 3, None, 0)], {"0": 50}),
    ],
)
def test_a_number_stands_for_the_one_that_can_hold_a_lock_or_for_nobody(
    rows: list[Row], owners: dict[str, int]
) -> None:
    assert _owners(rows) == owners
