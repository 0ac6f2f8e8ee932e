"""What was acknowledged is there: after death, on a full disk, once, and nothing that was refused."""

import copy
import errno
import json
import os
import resource
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from poolpilot.errors import StoreError, TakenNameError
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.outcomes.outcome_segments import read_outcomes, segments
from poolpilot.serve.service.outcomes.reported_outcome import ReportedOutcome

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")  # the child only writes files

LARGE = 2**30

MakeOutcome = Callable[[str], ReportedOutcome]


@pytest.fixture
def outcome_of(outcome_values: dict[str, Any]) -> MakeOutcome:
    outcome = ReportedOutcome.from_json(outcome_values)
    return lambda identifier: replace(outcome, id=identifier)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "outcomes"


def kept(folder: Path) -> list[str]:
    return [outcome.id for outcome in read_outcomes(folder)]


def test_what_is_appended_is_read_back(folder: Path, outcome_of: MakeOutcome) -> None:
    with OutcomeLog(folder, LARGE) as log:
        assert [log.append(outcome_of(name)) for name in "abc"] == [True] * 3
        assert list(read_outcomes(folder)) == [outcome_of(name) for name in "abc"]
    assert [path.stat().st_mode & 0o777 for path in segments(folder)] == [0o600]


def test_line_is_on_disk_when_it_is_acknowledged(
    folder: Path, outcome_of: MakeOutcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def noted(name: str) -> Callable[..., Any]:
        original = getattr(os, name)

        def call(*given: Any) -> Any:
            done.append(name)
            return original(*given)

        return call

    for name in ("write", "fsync"):
        monkeypatch.setattr(os, name, noted(name))
    with OutcomeLog(folder, LARGE) as log:
        log.append(outcome_of("a"))
        done.clear()
        log.append(outcome_of("b"))
    assert done == ["write", "fsync"]


def test_repeat_is_not_written_twice_not_even_by_another_process(folder: Path, outcome_of: MakeOutcome) -> None:
    with OutcomeLog(folder, LARGE) as log:
        assert [log.append(outcome_of("a")), log.append(outcome_of("a"))] == [True, False]
    with OutcomeLog(folder, LARGE) as log:
        assert [log.append(outcome_of("a")), log.append(outcome_of("b"))] == [False, True]
    assert kept(folder) == ["a", "b"]


def in_other_order(outcome: ReportedOutcome) -> ReportedOutcome:
    """The same report by a client whose objects have no order."""

    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: turned(value[name]) for name in reversed(value)}
        return [turned(one) for one in value] if isinstance(value, list) else value

    return ReportedOutcome.from_json(turned(outcome.as_dict()))


OTHERS: dict[str, dict[str, Any]] = {
    "verdict": {"verdict": "rolled back"},
    "propensity": {"propensity": 0.5},
    "server": {"server_id": "another"},
    "digest": {"model_digest": "cd" * 32},
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_another_report_under_a_known_identifier_is_refused_also_by_another_process(
    folder: Path, outcome_of: MakeOutcome, change: dict[str, Any]
) -> None:
    with OutcomeLog(folder, LARGE) as log:
        log.append(outcome_of("a"))
        with pytest.raises(TakenNameError, match="another outcome is kept under the id 'a'"):
            log.append(replace(outcome_of("a"), **change))
    with OutcomeLog(folder, LARGE) as log:
        with pytest.raises(TakenNameError):
            log.append(replace(outcome_of("a"), **change))
        assert [log.append(outcome_of("a")), log.append(outcome_of("b"))] == [False, True]
    assert list(read_outcomes(folder)) == [outcome_of("a"), outcome_of("b")]


def test_repeat_in_another_order_is_the_same(folder: Path, outcome_values: dict[str, Any]) -> None:
    values = copy.deepcopy(outcome_values)
    values["request"]["objective"] = {"targets_ms": {"read": 50.0, "write": 5.0}, "weights": {"write": 2.0, "read": 1}}
    outcome = ReportedOutcome.from_json(values)
    with OutcomeLog(folder, LARGE) as log:
        assert [log.append(outcome), log.append(in_other_order(outcome))] == [True, False]


def test_repeat_of_what_a_release_of_before_has_written_is_known(folder: Path, outcome_of: MakeOutcome) -> None:
    with OutcomeLog(folder, LARGE) as log:
        log.append(outcome_of("a"))
    (segment,) = segments(folder)
    segment.write_text(json.dumps(outcome_of("a").as_dict()) + "\n")  # in the order of the fields, not of their names
    with OutcomeLog(folder, LARGE) as log:
        assert not log.append(outcome_of("a"))
        with pytest.raises(TakenNameError):
            log.append(replace(outcome_of("a"), verdict="rolled back"))


def test_repeat_of_what_a_release_of_before_calls_taken_back_is_known(folder: Path, outcome_of: MakeOutcome) -> None:
    rolled_back = replace(outcome_of("a"), verdict="rolled back")
    with OutcomeLog(folder, LARGE) as log:
        log.append(rolled_back)
    (segment,) = segments(folder)
    segment.write_bytes(segment.read_bytes().replace(b'"rolled back"', b'"taken back"'))
    assert list(read_outcomes(folder)) == [rolled_back]
    with OutcomeLog(folder, LARGE) as log:
        assert not log.append(rolled_back)


def test_segments_end_at_their_size(folder: Path, outcome_of: MakeOutcome) -> None:
    with OutcomeLog(folder, LARGE) as log:
        log.append(outcome_of("first"))
    (first,) = segments(folder)
    two_lines = 2 * first.stat().st_size + 100
    with OutcomeLog(folder, two_lines) as log:
        for number in range(5):
            log.append(outcome_of(str(number)))
    assert [len(path.read_bytes().splitlines()) for path in segments(folder)] == [1, 2, 2, 1]
    assert kept(folder) == ["first", *"01234"]


def test_line_longer_than_a_segment_has_one_to_itself(folder: Path, outcome_of: MakeOutcome) -> None:
    with OutcomeLog(folder, 10) as log:
        assert [log.append(outcome_of(name)) for name in "ab"] == [True, True]
    assert len(segments(folder)) == 2


@pytest.mark.parametrize("torn", [b"{", b'{"id": "c", "ser', b'{"id": "c"}'])
def test_torn_end_is_dropped_and_told(folder: Path, outcome_of: MakeOutcome, torn: bytes) -> None:
    with OutcomeLog(folder, LARGE) as log:
        log.append(outcome_of("a"))
    (segment,) = segments(folder)
    with segment.open("ab") as file:
        file.write(torn)
    assert kept(folder) == ["a"], "a reader waits for the newline"
    with capture_logs() as told, OutcomeLog(folder, LARGE) as log:
        assert log.append(outcome_of("c"))
    assert [(event["log_level"], event["segment"]) for event in told] == [("warning", str(segment))]
    assert kept(folder) == ["a", "c"]


def test_second_writer_is_refused(folder: Path) -> None:
    with OutcomeLog(folder, LARGE), pytest.raises(StoreError, match="another process keeps outcomes in"):
        OutcomeLog(folder, LARGE)
    OutcomeLog(folder, LARGE).close()


def test_one_that_has_left_the_folder_writes_nothing_more(folder: Path, outcome_of: MakeOutcome) -> None:
    with OutcomeLog(folder, LARGE) as log:
        log.append(outcome_of("a"))
    with pytest.raises(StoreError, match="is left to another writer"):
        log.append(outcome_of("b"))
    assert kept(folder) == ["a"]


def test_folder_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"cannot write to .*file: .*; choose another folder"):
        OutcomeLog(tmp_path / "file", LARGE)


def fails_once(monkeypatch: pytest.MonkeyPatch, name: str, instead: Callable[..., int]) -> None:
    """Puts something in the place of a function of `os` until it was called."""
    original = getattr(os, name)

    def once(*given: Any) -> int:
        monkeypatch.setattr(os, name, original)
        return instead(original, *given)

    monkeypatch.setattr(os, name, once)


def no_space(*_: Any) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def half(write: Callable[[int, bytes], int], descriptor: int, line: bytes) -> int:
    return write(descriptor, line[: len(line) // 2])


@pytest.mark.parametrize(("name", "instead"), [("write", no_space), ("write", half), ("fsync", no_space)])
def test_what_was_refused_is_not_there_and_may_be_reported_again(
    folder: Path, outcome_of: MakeOutcome, monkeypatch: pytest.MonkeyPatch, name: str, instead: Callable[..., int]
) -> None:
    with OutcomeLog(folder, LARGE) as log:
        log.append(outcome_of("a"))
        fails_once(monkeypatch, name, instead)
        with pytest.raises(StoreError, match="cannot be kept: No space left on device; report it again later"):
            log.append(outcome_of("b"))
        assert kept(folder) == ["a"]
        assert log.append(outcome_of("b"))
    assert kept(folder) == ["a", "b"]


def test_segment_whose_flush_failed_is_not_written_again(
    folder: Path, outcome_of: MakeOutcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OutcomeLog(folder, LARGE) as log:
        log.append(outcome_of("a"))
        fails_once(monkeypatch, "fsync", no_space)
        with pytest.raises(StoreError):
            log.append(outcome_of("b"))
        log.append(outcome_of("b"))
    assert [len(path.read_bytes().splitlines()) for path in segments(folder)] == [1, 1]


def test_what_could_not_be_cut_off_again_is_read_once(
    folder: Path, outcome_of: MakeOutcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OutcomeLog(folder, LARGE) as log:
        log.append(outcome_of("a"))
        fails_once(monkeypatch, "fsync", no_space)
        fails_once(monkeypatch, "ftruncate", no_space)
        with pytest.raises(StoreError):
            log.append(outcome_of("b"))
        assert log.append(outcome_of("b"))
    assert kept(folder) == ["a", "b"]


def in_child(work: Callable[[int], None]) -> tuple[int, int]:
    """Runs `work` in a child, given where to tell; gives its process and where to read what it tells."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(writing)
        finally:
            os._exit(0)
    os.close(writing)
    return child, reading


@pytest.mark.parametrize("acknowledged", [1, 7, 23])
def test_what_was_acknowledged_survives_death(folder: Path, outcome_of: MakeOutcome, acknowledged: int) -> None:
    def append_for_ever(told: int) -> None:
        with OutcomeLog(folder, 40_000) as log:
            number = 0
            while log.append(outcome_of(f"{number:08d}")):
                os.write(told, b"%08d" % number)
                number += 1

    child, reading = in_child(append_for_ever)
    told = b""
    while len(told) < 8 * acknowledged:
        told += os.read(reading, 8)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(reading, 4096):
        told += more
    os.close(reading)
    count = len(told) // 8
    OutcomeLog(folder, LARGE).close()
    found = kept(folder)
    assert found[:count] == [f"{number:08d}" for number in range(count)]
    assert len(found) <= count + 1, "one may be there of which nobody was told yet"


def test_full_disk_leaves_whole_lines_alone(folder: Path, outcome_of: MakeOutcome) -> None:
    """The limit on a file's size cuts a write short as a full disk does."""

    def append_until_full(told: int) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
        with OutcomeLog(folder, LARGE) as log:
            for number in range(100):
                try:
                    log.append(outcome_of(str(number)))
                except StoreError:
                    break
                os.write(told, b".")

    child, reading = in_child(append_until_full)
    count = 0
    while told := os.read(reading, 4096):
        count += len(told)
    os.close(reading)
    os.waitpid(child, 0)
    (segment,) = segments(folder)
    assert 0 < count < 100
    assert kept(folder) == [str(number) for number in range(count)]
    assert segment.read_bytes().endswith(b"\n")


def test_latest_outcomes_are_known_and_no_more(
    folder: Path, outcome_of: MakeOutcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poolpilot.serve.service.outcomes.outcome_log.MOST_IDENTIFIERS", 3)
    with OutcomeLog(folder, LARGE) as log:
        assert [log.append(outcome_of(name)) for name in "abcde"] == [True] * 5
        assert [log.append(outcome_of(name)) for name in "cde"] == [False] * 3
    with OutcomeLog(folder, LARGE) as again:
        assert [again.append(outcome_of(name)) for name in "cde"] == [False] * 3
        assert again.append(outcome_of("a"))
    assert kept(folder) == list("abcde"), "who reads drops the repeat"


def test_what_a_dead_process_may_not_have_flushed_is_on_disk_before_it_counts(
    folder: Path, outcome_of: MakeOutcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OutcomeLog(folder, LARGE) as log:
        log.append(outcome_of("a"))
    (segment,) = segments(folder)
    flushed: set[int] = set()
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        flushed.add(os.fstat(descriptor).st_ino)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    with OutcomeLog(folder, LARGE) as again:
        assert segment.stat().st_ino in flushed
        assert not again.append(outcome_of("a"))
