"""Who sets anything asks whether the words of a DSN still lead to the server that they led to."""

from dataclasses import replace
from pathlib import Path

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.errors import JournalError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.restoration.journal import Journal
from poolpilot.mariadb.restoration.known_server import KnownServer

SERVER = ServerIdentity("db1", "/data/", "10.11.18-MariaDB", 1_700_000_000)
OTHER = replace(SERVER, hostname="db2")


def test_the_server_that_is_known_is_no_other(tmp_path: Path) -> None:
    known = KnownServer(tmp_path / "journals", "h=db1")
    assert known.other_than(SERVER) == ""
    known.note(SERVER, "climb")
    restarted = replace(SERVER, version="11.4.3-MariaDB", started_unix_s=1_800_000_000)
    assert known.other_than(SERVER) == known.other_than(restarted) == ""


def test_another_server_is_told_with_the_one_before(tmp_path: Path) -> None:
    known = KnownServer(tmp_path, "h=db1")
    known.note(SERVER, "climb")
    told = known.other_than(OTHER)
    assert told.startswith(f"h=db1 led to {SERVER} for the climb of ")
    assert told.endswith(f", and leads to {OTHER} now")
    assert KnownServer(tmp_path, "h=db9").other_than(OTHER) == ""
    known.note(OTHER, "restore")
    assert known.other_than(OTHER) == ""


def test_what_was_left_on_the_one_before_is_told(tmp_path: Path) -> None:
    known = KnownServer(tmp_path, "h=db1")
    known.note(SERVER, "climb")
    Journal.begin(tmp_path, SERVER, PoolTuple(2, 3, 500), KnobSpace.stock(2), "climb")
    assert "where that has ended without a restore, and leads to" in known.other_than(OTHER)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"server": 1}', b"\xff"])
def test_what_cannot_be_read_is_nothing_known(tmp_path: Path, content: bytes) -> None:
    known = KnownServer(tmp_path, "h=db1")
    known.path.write_bytes(content)
    assert known.other_than(SERVER) == ""


def test_a_server_without_a_dsn_is_not_known(tmp_path: Path) -> None:
    known = KnownServer(tmp_path, "")
    known.note(SERVER, "climb")
    assert list(tmp_path.iterdir()) == []
    assert known.other_than(OTHER) == ""


def test_where_it_cannot_be_noted_nothing_is_set(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="nothing is set"):
        KnownServer(tmp_path / "file", "h=db1").note(SERVER, "climb")
