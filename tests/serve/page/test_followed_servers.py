"""The servers of a folder: found, followed, let go of, and never more than so many."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.serve.page.conftest import WrittenLog

from poolpilot.errors import StoreError
from poolpilot.serve.page import followed_servers
from poolpilot.serve.page.followed_servers import FollowedServers

Written = Callable[..., WrittenLog]


def keys_of(servers: FollowedServers) -> list[str]:
    with servers.followed() as histories:
        return [each.key for each in histories]


def test_folder_without_logs_has_no_servers(tmp_path: Path) -> None:
    assert keys_of(FollowedServers(tmp_path)) == keys_of(FollowedServers(tmp_path / "missing")) == []


def test_logs_are_found_in_the_folder_and_one_level_below_it(written: Written, tmp_path: Path) -> None:
    for below in ("", "db1", "db2", "db2/deeper"):
        written(below).turn()
    assert sorted(keys_of(FollowedServers(tmp_path))) == [".", "db1", "db2"]


def test_key_can_be_written_whatever_bytes_the_folder_is_called(written: Written, tmp_path: Path) -> None:
    written(os.fsdecode(b"db\xff")).turn()
    assert keys_of(FollowedServers(tmp_path)) == ["db\\xff"]


def test_who_wrote_last_comes_first(written: Written, tmp_path: Path) -> None:
    logs = {below: written(below) for below in ("db1", "db2", "db3")}
    for age, below in enumerate(("db2", "db3", "db1")):
        logs[below].turn()
        os.utime(logs[below].log.path, (1e9 - age, 1e9 - age))
    servers = FollowedServers(tmp_path)
    assert keys_of(servers) == ["db2", "db3", "db1"]
    with servers.one(None) as latest:
        assert latest is not None
        assert latest.key == "db2"
    logs["db1"].turn()
    assert keys_of(servers)[0] == "db1"


def test_new_servers_join_and_old_ones_go(written: Written, tmp_path: Path, left_open: Callable[[], set[str]]) -> None:
    servers = FollowedServers(tmp_path)
    first = written("db1")
    first.turn()
    assert keys_of(servers) == ["db1"]
    second = written("db2")
    second.turn()
    assert sorted(keys_of(servers)) == ["db1", "db2"]
    first.log.path.unlink()
    assert keys_of(servers) == ["db2"]
    for log in (first, second):
        log.log.close()
    servers.close()
    assert left_open() == set()


def test_too_many_are_left_out_and_counted(written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_servers, "MOST_SERVERS", 2)
    for number in range(5):
        written(f"db{number}").turn()
    servers = FollowedServers(tmp_path)
    assert len(keys_of(servers)) == 2
    assert servers.left_out == 3


def test_nobody_gets_out_of_the_folder(written: Written, tmp_path: Path) -> None:
    written("secret").turn()
    written("served/db1").turn()
    servers = FollowedServers(tmp_path / "served")
    for key in ("../secret", str(tmp_path / "secret"), "db1/../../secret", "db1/", ""):
        with servers.one(key) as history:
            assert history is None


def test_log_that_cannot_be_read_is_a_problem_of_its_server_alone(
    written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for below in ("db1", "db2"):
        written(below).turn(2)
    (tmp_path / "db3").mkdir()
    (loop := tmp_path / "db3" / "decisions.jsonl").symlink_to(loop)
    servers, opened = FollowedServers(tmp_path), os.open

    def refuse(path: Path, flags: int) -> int:
        if path.parent.name == "db1":
            raise PermissionError(13, "Permission denied")
        return opened(path, flags)

    with monkeypatch.context() as another:
        another.setattr("poolpilot.serve.page.log_tail.os.open", refuse)
        with servers.followed() as histories:
            told = {each.key: (len(each.rows), each.problem) for each in histories}
        assert told["db2"] == (2, "")
        assert told["db1"][0] == 0
        assert "Permission denied" in told["db1"][1]
        with pytest.raises(StoreError, match="Permission denied"), servers.one("db1"):
            pass
    with servers.one("db1") as history:
        assert history is not None
        assert (len(history.rows), history.problem) == (2, "")


def test_long_logs_are_read_one_by_one(written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_servers, "READ_FOR_S", 0.0)
    for number in range(3):
        written(f"db{number}").turn()
    servers = FollowedServers(tmp_path)
    assert [len(keys_of(servers)) for _ in range(4)] == [1, 2, 3, 3]
