"""The journal of a command: whole lines before every change, and nothing believed that does not fit."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.errors import JournalError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE, Journal, journal_folder, path_of

SERVER = ServerIdentity("db1", "/data/", "10.11.18-MariaDB", 1_700_000_000)
FIRST = PoolTuple(2, 3, 500)


@pytest.fixture
def begun(tmp_path: Path, stock: KnobSpace) -> Journal:
    return Journal.begin(tmp_path, SERVER, FIRST, stock, "climb")


def found(journal: Journal, stock: KnobSpace, server: ServerIdentity = SERVER) -> Journal | None:
    return Journal.find(journal.path.parent, server, stock)


def rewrite(begun: Journal, changes: dict[str, Any]) -> None:
    head, *lines = begun.path.read_text().splitlines()
    begun.path.write_text("\n".join([json.dumps(json.loads(head) | changes), *lines, ""]))


def test_what_was_written_is_found_again(begun: Journal, stock: KnobSpace) -> None:
    assert found(begun, stock) == begun
    for size in (4, 8, 16):
        begun.announce(FIRST.with_core((size, 3, 500)))
    again = found(begun, stock)
    assert again == begun
    assert [pool_tuple.pool_size for pool_tuple in begun.announced] == [8, 16]
    assert begun.path.stat().st_mode & 0o077 == 0


def test_ended_journal_is_gone(begun: Journal, stock: KnobSpace) -> None:
    begun.end()
    begun.end()
    assert found(begun, stock) is None


def test_what_is_committed_is_the_beginning_from_then_on(begun: Journal, stock: KnobSpace) -> None:
    verified = FIRST.with_core((8, 3, 500))
    for size in (4, 8, 4, 8):
        begun.announce(FIRST.with_core((size, 3, 500)))
    begun.commit(verified)
    again = found(begun, stock)
    assert again is not None
    assert (again.first, again.announced) == (verified, ())
    assert again.left_over(verified).wanted == verified
    assert len(begun.path.read_text().splitlines()) == 1
    assert [path.name for path in begun.path.parent.iterdir()] == [begun.path.name]
    begun.announce(FIRST)
    assert again.left_over(FIRST).theirs == ("pool_size",)
    later = found(begun, stock)
    assert later is not None
    assert later.left_over(FIRST).wanted == verified


@pytest.mark.parametrize("in_force", [(8, 3, 500), (16, 3, 500), (16, 3, 10)])
def test_another_tuple_may_come_back_from_what_is_verified_or_being_tried(
    begun: Journal, stock: KnobSpace, in_force: tuple[int, int, int]
) -> None:
    verified, tried = FIRST.with_core((8, 3, 500)), FIRST.with_core((16, 3, 10))
    begun.announce(verified)
    begun.commit(verified)
    for pool_tuple in (tried, verified, tried):
        begun.announce(pool_tuple)
    begun.return_to(FIRST)
    for journal in (begun, found(begun, stock)):
        assert journal is not None
        left = journal.left_over(FIRST.with_core(in_force))
        assert (left.wanted, left.theirs) == (FIRST, ())
        assert journal.left_over(FIRST.with_core((64, 3, 500))).theirs == ("pool_size",)


def test_what_cannot_be_noted_comes_back_all_the_same(
    begun: Journal, stock: KnobSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    verified = FIRST.with_core((8, 3, 500))
    begun.announce(verified)
    begun.commit(verified)
    with monkeypatch.context() as full:
        full.setattr("os.fsync", fail)
        with pytest.raises(JournalError, match="cannot write"):
            begun.return_to(FIRST)
    assert begun.left_over(verified).wanted == FIRST
    again = found(begun, stock)
    assert again is not None
    assert again.first == verified


def test_what_somebody_has_removed_is_written_again_and_never_begins_without_its_head(
    begun: Journal, stock: KnobSpace
) -> None:
    begun.announce(FIRST.with_core((8, 3, 500)))
    begun.path.unlink()
    with pytest.raises(JournalError, match="nothing more is set"):
        begun.announce(FIRST.with_core((16, 3, 500)))
    assert found(begun, stock) is None
    begun.renew()
    assert found(begun, stock) == begun


def test_commit_that_cannot_be_written_leaves_the_beginning(
    begun: Journal, stock: KnobSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun.announce(FIRST.with_core((8, 3, 500)))

    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("os.fsync", fail)
        with pytest.raises(JournalError, match="nothing more is set"):
            begun.commit(FIRST.with_core((8, 3, 500)))
    assert begun.first == FIRST
    again = found(begun, stock)
    assert again is not None
    assert (again.first, again.announced) == (begun.first, begun.announced)


def test_step_of_which_only_a_part_can_be_noted_is_not_taken(
    begun: Journal, stock: KnobSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    with monkeypatch.context() as full:
        full.setattr("os.write", lambda descriptor, data: write(descriptor, data[:5]))
        with pytest.raises(JournalError, match="nothing more is set"):
            begun.announce(FIRST.with_core((8, 3, 500)))
    again = found(begun, stock)
    assert again is not None
    assert again.announced == begun.announced == ()


def test_line_that_was_cut_short_never_happened(begun: Journal, stock: KnobSpace) -> None:
    whole = begun.path.read_text()
    begun.announce(FIRST.with_core((16, 3, 500)))
    text = begun.path.read_text()
    for length in range(len(whole), len(text)):
        begun.path.write_text(text[:length])
        again = found(begun, stock)
        assert again is not None
        assert again.announced == ()
    for length in range(len(whole)):
        begun.path.write_text(text[:length])
        assert found(begun, stock) is None


@pytest.mark.parametrize(
    ("announced", "in_force", "wanted", "theirs"),
    [
        ([], (2, 3, 500), (2, 3, 500), ()),
        ([(16, 3, 10)], (16, 3, 10), (2, 3, 500), ()),
        ([(16, 3, 10)], (16, 3, 500), (2, 3, 500), ()),  # broke off half way
        ([(8, 3, 500), (16, 3, 10)], (8, 3, 10), (2, 3, 500), ()),
        ([(8, 3, 500), (16, 3, 10)], (16, 11, 10), (2, 11, 500), ("oversubscribe",)),
        ([(16, 3, 10)], (7, 5, 300), (7, 5, 300), ("pool_size", "oversubscribe", "timer_interval_ms")),
        ([], (7, 3, 500), (7, 3, 500), ("pool_size",)),
    ],
)
def test_what_the_command_set_goes_back_and_what_others_set_stays(
    begun: Journal,
    announced: list[tuple[int, int, int]],
    in_force: tuple[int, int, int],
    wanted: tuple[int, int, int],
    theirs: tuple[str, ...],
) -> None:
    for core in announced:
        begun.announce(FIRST.with_core(core))
    left = begun.left_over(FIRST.with_core(in_force))
    assert left.wanted == FIRST.with_core(wanted)
    assert left.theirs == theirs


def test_restart_is_no_reason_to_refuse_it(begun: Journal, stock: KnobSpace) -> None:
    later = replace(SERVER, started_unix_s=SERVER.started_unix_s + 100)
    again = found(begun, stock, later)
    assert again is not None
    assert later.restarted_since(again.server)
    assert not SERVER.restarted_since(again.server)


def test_journal_of_before_an_upgrade_is_one_of_before_a_restart(begun: Journal, stock: KnobSpace) -> None:
    """Before, it kept the tuner and the keeper out until somebody removed it."""
    begun.announce(FIRST.with_core((300, 3, 500)))
    later = replace(SERVER, version="11.4.2-MariaDB", started_unix_s=SERVER.started_unix_s + 100)
    again = found(begun, stock, later)
    assert again is not None
    assert later.restarted_since(again.server)


def test_another_server_is_no_restart_of_this_one_but_knows_nothing_either() -> None:
    other = replace(SERVER, data_folder="/srv/other")
    assert not other.is_of(SERVER)
    assert other.restarted_since(SERVER)
    assert replace(SERVER, version="11.4.2-MariaDB", started_unix_s=0).is_of(SERVER)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"journal": 2}, "has the format 2, but this version reads 1"),
        ({"server": SERVER.as_dict() | {"hostname": "db2"}}, "on db2, but this is MariaDB 10.11.18-MariaDB in"),
        ({"server": SERVER.as_dict() | {"version": "11.4.2-MariaDB"}}, "is of MariaDB 11.4.2"),
        ({"server": {}}, "is damaged"),
        ({"server": "db1"}, "is damaged"),
        ({"first": FIRST.as_dict() | {"pool_size": 0}}, r"pool_size is 0, outside the allowed range 1\.\.128"),
        ({"first": FIRST.as_dict() | {"pool_size": "2"}}, "is damaged"),
        ({"first": FIRST.as_dict() | {"oversubscribe": 2.5}}, "must be a whole number"),
        ({"first": {"pool_size": 2}}, "needs the field"),
        ({"first": [2, 3, 500]}, "is damaged"),
        ({"begun_unix_s": None}, "is damaged"),
        ({"procedure": "x.y(1); DROP TABLE t"}, "is no name of a procedure"),
        ({"procedure": 3}, "is damaged"),
    ],
)
def test_journal_that_does_not_fit_is_named(
    begun: Journal, stock: KnobSpace, change: dict[str, Any], says: str
) -> None:
    rewrite(begun, change)
    with pytest.raises(JournalError, match=says) as refused:
        found(begun, stock)
    assert str(begun.path) in str(refused.value)
    assert "nothing is set" in str(refused.value)


@pytest.mark.parametrize(
    "text", ["{}\n", "[]\n", "3\n", "nonsense\n", "\n", "\x00\n", '{"journal": 1}\n', "[" * 100_000 + "\n"]
)
def test_file_that_is_no_journal_is_named(begun: Journal, stock: KnobSpace, text: str) -> None:
    begun.path.write_text(text)
    with pytest.raises(JournalError, match="nothing is set"):
        found(begun, stock)


def test_announced_tuple_outside_the_ranges_is_named(begun: Journal, stock: KnobSpace) -> None:
    begun.announce(FIRST.with_core((16, 100_000, 500)))
    with pytest.raises(JournalError, match="holds a configuration that this server does not take"):
        found(begun, stock)


def test_unreadable_file_is_named(begun: Journal, stock: KnobSpace) -> None:
    begun.path.unlink()
    begun.path.mkdir()
    with pytest.raises(JournalError, match="cannot be read"):
        found(begun, stock)


def test_server_that_was_started_with_many_groups_takes_them_again(tmp_path: Path) -> None:
    large = PoolTuple(192, 3, 500)
    begun = Journal.begin(tmp_path, SERVER, large, KnobSpace.stock(192, max_pool_size=192), "climb")
    begun.announce(large.with_core((64, 3, 500)))
    again = found(begun, KnobSpace.stock(64))  # all that the server tells by then
    assert again is not None
    assert again.first == large


def test_folder_that_cannot_be_written_is_refused_before_anything_is_set(tmp_path: Path, stock: KnobSpace) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match=f"without it nothing is set.*{FOLDER_VARIABLE}"):
        Journal.begin(tmp_path / "file", SERVER, FIRST, stock, "climb")


def test_change_that_cannot_be_noted_is_refused(begun: Journal) -> None:
    begun.path.unlink()
    begun.path.mkdir()
    with pytest.raises(JournalError, match="nothing more is set"):
        begun.announce(FIRST.with_core((4, 3, 500)))
    assert begun.announced == ()


def test_folder_is_named_by_argument_environment_or_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    assert journal_folder() == tmp_path / "state" / "poolpilot"
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "journals"))
    assert journal_folder() == tmp_path / "journals"
    assert journal_folder(tmp_path) == tmp_path


def test_servers_of_one_host_have_journals_of_their_own(tmp_path: Path) -> None:
    other = replace(SERVER, data_folder="/data2/")
    assert path_of(tmp_path, SERVER) != path_of(tmp_path, other)
    assert path_of(tmp_path, SERVER) == path_of(tmp_path, replace(SERVER, version="12.0.0-MariaDB", started_unix_s=1))
