"""The tail of a log: every line once, in order, across new files, torn lines and full disks."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.serve.page.conftest import WrittenLog

from poolpilot.errors import StoreError
from poolpilot.serve.page import log_tail
from poolpilot.serve.page.log_tail import LogTail

Written = Callable[..., WrittenLog]

FILE_BYTES = 10_000
"""So small that a file holds its head, of 4,000 to 7,000 bytes here, and some decisions."""


def times(lines: list[bytes]) -> list[float]:
    """When each decision was made; heads of files are left out."""
    return [values["observation"]["at_s"] for line in lines if "observation" in (values := json.loads(line))]


def test_each_line_is_told_once_as_it_is_written(written: Written, tmp_path: Path) -> None:
    log, tail = written(), LogTail(tmp_path)
    told: list[bytes] = []
    for turns in (1, 3, 0, 2):
        log.turn(turns)
        told += tail.lines()
    assert times(told) == [observation.at_s for observation in log.drive.observations]
    assert len(told) == 6 + 1


def test_torn_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    (path := tmp_path / "decisions.jsonl").write_bytes(b"one\ntw")
    tail = LogTail(tmp_path)
    assert list(tail.lines()) == [b"one"]
    with path.open("ab") as file:
        file.write(b"o\nthree\n")
    assert list(tail.lines()) == [b"two", b"three"]


def test_part_of_a_line_that_is_taken_away_again_was_never_there(tmp_path: Path) -> None:
    (path := tmp_path / "decisions.jsonl").write_bytes(b"one\ntw")
    tail = LogTail(tmp_path)
    assert list(tail.lines()) == [b"one"]
    path.write_bytes(b"one\nlonger than before\n")
    assert list(tail.lines()) == [b"longer than before"]


def test_new_files_lose_and_double_nothing(written: Written, tmp_path: Path) -> None:
    log, tail = written(largest_bytes=FILE_BYTES), LogTail(tmp_path)
    told: list[bytes] = []
    for _ in range(60):
        log.turn()
        told += tail.lines()
    assert len(list(tmp_path.iterdir())) > 3
    assert times(told) == [observation.at_s for observation in log.drive.observations]
    assert not tail.overtaken


def test_it_says_when_it_was_overtaken(written: Written, tmp_path: Path) -> None:
    log, tail = written(largest_bytes=FILE_BYTES), LogTail(tmp_path)
    log.turn()
    assert list(tail.lines())
    log.turn(80)
    assert list(tail.lines())
    assert tail.overtaken


def test_older_files_come_first(written: Written, tmp_path: Path) -> None:
    log = written(largest_bytes=FILE_BYTES)
    log.turn(80)
    assert times(list(LogTail(tmp_path).lines())) == [observation.at_s for observation in log.drive.observations]


def test_no_more_of_them_than_are_wanted(written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = written(largest_bytes=FILE_BYTES)
    log.turn(80)
    monkeypatch.setattr(log_tail, "MOST_BEFORE", 2 * FILE_BYTES)
    told = times(list(LogTail(tmp_path).lines()))
    assert 5 < len(told) < 40
    assert told == [observation.at_s for observation in log.drive.observations][-len(told) :]


def test_line_that_is_too_long_is_told_as_an_empty_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_tail, "LONGEST_LINE", 16)
    (tmp_path / "decisions.jsonl").write_bytes(b"one\n" + 100 * b"x" + b"\ntwo\nthree\n")
    assert list(LogTail(tmp_path).lines()) == [b"one", b"", b"two", b"three"]


def test_log_may_come_later(written: Written, tmp_path: Path) -> None:
    tail = LogTail(tmp_path / "new")
    assert list(tail.lines()) == []
    written("new").turn()
    assert len(list(tail.lines())) == 2


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "decisions.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"cannot read .*decisions\.jsonl"):
        list(LogTail(tmp_path).lines())


def test_it_lets_go_of_its_files(written: Written, tmp_path: Path, left_open: Callable[[], set[str]]) -> None:
    tail = LogTail(tmp_path)
    log = written(largest_bytes=FILE_BYTES)
    for _ in range(30):
        log.turn()
        list(tail.lines())
    tail.close()
    log.log.close()
    assert left_open() == set()
