"""What a reason says: numbers tell something, unless they run on while the same goes on beside the pool."""

import pytest

from poolpilot.serve.page.gist import gist


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("session 12 of dump@db1 backs up: SELECT for 37 s", 42),
        ("session 3 of root@db1 changes a table: ALTER for 37 s, and waits for the table", 1042),
        ("replication is 37 s behind, more than 10 s", 8),
    ],
)
def test_what_goes_on_is_the_same_however_long(one: str, other: int) -> None:
    assert gist(one, hindered=True) == gist(one.replace("37", str(other)), hindered=True)


def test_something_else_that_goes_on_is_not_the_same() -> None:
    backup = "session 12 of dump@db1 backs up: SELECT for 37 s"
    assert gist(backup, hindered=True) != gist(backup.replace("db1", "db2"), hindered=True)


def test_numbers_of_other_reasons_tell_something() -> None:
    said = "nothing is changed now: 2 windows of (4, 3, 500), 10 s"
    assert gist(said, hindered=False) == said
