"""Who is meant by the number of a transaction, which several may share; what a lock on a definition holds off."""

import pytest

from poolpilot.mariadb.diagnosis.lock_reading import HeldLock, _owners
from poolpilot.mariadb.diagnosis.table_use import Access

Row = tuple[str, int, int, int | None, int, int]


@pytest.mark.parametrize(
    ("rows", "owners"),
    [
        ([("7", 50, 3, None, 2, 0), ("8", 60, 3, 1, 2, 0)], {"7": 50, "8": 60}),
        ([("0", 50, 3, None, 2, 0), ("0", 60, 9, None, 0, 0), ("8", 70, 1, 1, 2, 0)], {"0": 50, "8": 70}),
        ([("0", 60, 9, None, 0, 0), ("0", 50, 3, None, 2, 0)], {"0": 50}),
        ([("0", 50, 3, None, 2, 0), ("0", 60, 9, None, 1, 0)], {}),
        ([("0", 50, 3, None, 0, 0)], {"0": 50}),
    ],
)
def test_a_number_stands_for_the_one_that_can_hold_a_lock_or_for_nobody(
    rows: list[Row], owners: dict[str, int]
) -> None:
    assert _owners(rows) == owners


@pytest.mark.parametrize(
    ("mode", "access"),
    [
        ("MDL_EXCLUSIVE", Access.READ),
        ("SHARED_NO_READ_WRITE", Access.READ),
        ("MDL_SHARED_READ_ONLY", Access.WRITE),
        ("SHARED_NO_WRITE", Access.WRITE),
        ("MDL_SHARED_UPGRADABLE", Access.CHANGE),
        ("SHARED_WRITE", Access.CHANGE),
        ("MDL_SHARED_READ", Access.CHANGE),
    ],
)
def test_what_a_lock_on_a_definition_holds_off_at_least(mode: str, access: Access) -> None:
    assert HeldLock(1, mode, "shop.orders").holds_off is access
