"""The log of decisions: whole lines, rotation, a full disk, and the same decisions when it is replayed."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.serve.tuner.conftest import Drive, rising, rules

from poolpilot.errors import StoreError, TakenFolderError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.snapshot import Hindrance, HindranceKind
from poolpilot.serve.tuner.decision_log import DecisionLog, log_files, read_log
from poolpilot.serve.tuner.decision_replay import replayed

MakeDrive = Callable[..., Drive]

HINDRANCES = (Hindrance("a backup runs"), Hindrance("the pool is stuck", HindranceKind.STUCK))


def logged(drive: Drive, log: DecisionLog, windows: int) -> None:
    if log.rules != drive.rules:
        log.begin_file(drive.rules)
    for number in range(windows):
        before = drive.memory
        drive.turn(**({"hindrances": HINDRANCES} if number % 17 == 3 else {}))
        log.write(before, drive.observations[-1], drive.decision)


@pytest.fixture
def tuner(drive: MakeDrive) -> Drive:
    return drive(rising, wanted=PoolTuple(16, 3, 10), noise=0.03)


def test_replay_makes_the_same_decisions(tuner: Drive, tmp_path: Path) -> None:
    log = DecisionLog(tmp_path, "db1")
    logged(tuner, log, 300)
    pairs = list(replayed(log.path))
    assert len(pairs) == 300
    assert [then for then, _ in pairs] == [now for _, now in pairs] == tuner.decisions
    assert [line.observation for line in read_log(log.path)] == tuner.observations


def test_log_that_told_no_kinds_is_read_and_replayed(tuner: Drive, tmp_path: Path) -> None:
    """A hindrance was a sentence then, and nothing said which reasons are routine."""
    log = DecisionLog(tmp_path, "db1")
    logged(tuner, log, 40)
    head, *lines = map(json.loads, log.path.read_text().splitlines())
    for line in lines:
        line["decision"].pop("routine", None)
        if "hindrances" in line["observation"]:
            line["observation"]["hindrances"] = [each["text"] for each in line["observation"]["hindrances"]]
    log.path.write_text("".join(f"{json.dumps(each)}\n" for each in (head, *lines)))
    assert {each for line in read_log(log.path) for each in line.observation.hindrances} == {
        Hindrance(each.text) for each in HINDRANCES
    }
    assert not any(line.decision.routine for line in read_log(log.path))
    assert all(then == now for then, now in replayed(log.path))


def test_every_file_replays_alone_and_the_oldest_go(tuner: Drive, tmp_path: Path) -> None:
    log = DecisionLog(tmp_path, "db1", largest_bytes=20_000, kept_bytes=70_000)
    logged(tuner, log, 400)
    files = log_files(tmp_path)
    assert len(files) == 4
    assert sum(file.stat().st_size for file in files[:-1]) <= 70_000
    assert max(file.stat().st_size for file in files) < 30_000
    for file in files:
        assert all(then == now for then, now in replayed(file))
    newest = [line.decision for line in read_log(log.path)]
    assert tuner.decisions[-len(newest) :] == newest


def test_second_tuner_begins_a_file_of_its_own(tuner: Drive, tmp_path: Path) -> None:
    for _ in range(2):
        log = DecisionLog(tmp_path, "db1")
        logged(tuner, log, 5)
        log.close()
    assert [len(list(read_log(file))) for file in sorted(tmp_path.glob("*.jsonl"))] == [5, 5]


def test_tuner_that_is_started_again_and_again_pushes_no_full_file_out(tuner: Drive, tmp_path: Path) -> None:
    log = DecisionLog(tmp_path, "db1")
    logged(tuner, log, 300)
    log.close()
    for _ in range(50):
        log = DecisionLog(tmp_path, "db1")
        logged(tuner, log, 1)
        log.close()
    oldest, *later = log_files(tmp_path)
    assert len(list(read_log(oldest))) == 300
    assert [len(list(read_log(file))) for file in later] == 50 * [1]


def test_no_more_files_are_kept_than_can_be_renamed(
    tuner: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poolpilot.serve.tuner.decision_log.MOST_FILES", 3)
    for _ in range(6):
        log = DecisionLog(tmp_path, "db1")
        logged(tuner, log, 1)
        log.close()
    assert [file.name for file in log_files(tmp_path)] == [f"decisions{each}.jsonl" for each in (".3", ".2", ".1", "")]


def test_second_tuner_does_not_take_the_log_of_a_running_one(tuner: Drive, tmp_path: Path) -> None:
    log = DecisionLog(tmp_path, "db1")
    logged(tuner, log, 3)
    with pytest.raises(TakenFolderError, match=r"another tuner keeps its decisions in .*--log"):
        DecisionLog(tmp_path, "db1")
    logged(tuner, log, 2)
    assert [len(list(read_log(file))) for file in tmp_path.glob("*.jsonl")] == [5]
    log.close()
    DecisionLog(tmp_path, "db1").close()


def test_killed_tuner_leaves_its_folder_to_the_next(tmp_path: Path) -> None:
    held = (
        "import sys, time, pathlib\n"
        "from poolpilot.serve.tuner.decision_log import DecisionLog\n"
        "log = DecisionLog(pathlib.Path(sys.argv[1]), 'db1')\n"
        "print('held', flush=True)\n"
        "time.sleep(600)\n"
    )
    command = [sys.executable, "-c", held, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(TakenFolderError):
            DecisionLog(tmp_path, "db1")
        process.kill()
        process.wait()
        DecisionLog(tmp_path, "db1").close()


def test_other_rules_begin_a_file_of_their_own(tuner: Drive, tmp_path: Path) -> None:
    log = DecisionLog(tmp_path, "db1")
    logged(tuner, log, 30)
    tuner.rules = rules(verify_windows=5)
    logged(tuner, log, 90)
    for path in (tmp_path / "decisions.1.jsonl", log.path):
        assert all(then == now for then, now in replayed(path))


def test_torn_last_line_is_no_decision(tuner: Drive, tmp_path: Path) -> None:
    log = DecisionLog(tmp_path, "db1")
    logged(tuner, log, 3)
    whole = log.path.read_bytes()
    log.path.write_bytes(whole[:-5])
    assert len(list(read_log(log.path))) == 2


def test_full_disk_ends_nothing_and_is_told(tuner: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = DecisionLog(tmp_path, "db1")
    logged(tuner, log, 2)

    def fail(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, "write", fail)
        logged(tuner, log, 3)
    assert log.lost_lines == 3
    logged(tuner, log, 1)
    lines = [json.loads(line) for line in log.path.read_text().splitlines()]
    assert [line.get("lost_lines") for line in lines] == [None, 3]
    logged(tuner, log, 20)
    files = sorted(tmp_path.glob("*.jsonl"))
    assert [len(list(read_log(file))) for file in files] == [2, 21]
    assert all(then == now for file in files for then, now in replayed(file))


@pytest.mark.parametrize("failing", ["write", "open"])
def test_disk_that_is_full_when_a_file_is_over_loses_no_older_one_and_leaves_none_without_a_head(
    tuner: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    log = DecisionLog(tmp_path, "db1", largest_bytes=8_000, kept_bytes=24_000)
    while not (tmp_path / "decisions.1.jsonl").exists():
        logged(tuner, log, 1)
    before = (tmp_path / "decisions.1.jsonl").read_bytes()

    def fail(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(os, failing, fail)
        logged(tuner, log, 60)
    assert before in [file.read_bytes() for file in tmp_path.glob("*.jsonl")]
    logged(tuner, log, 5)
    assert all(then == now for file in tmp_path.glob("*.jsonl") for then, now in replayed(file))


def test_file_that_cannot_be_renamed_leaves_the_log_where_it_is_read(
    tuner: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, what followed went into a file that nobody reads, and the next start emptied it."""
    log = DecisionLog(tmp_path, "db1", largest_bytes=2_000)
    logged(tuner, log, 3)

    def refuses(path: Path, _target: object) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", refuses)
        logged(tuner, log, 5)
        assert log.lost_lines == 5
    logged(tuner, log, 1)
    assert log.lost_lines == 0
    assert [line.observation for line in read_log(log.path)] == tuner.observations[-1:]
    assert json.loads(log.path.read_bytes().splitlines()[1])["lost_lines"] == 5
    log.close()


def test_part_of_a_line_is_taken_away_again(tuner: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = DecisionLog(tmp_path, "db1")
    logged(tuner, log, 1)
    before, write = log.path.read_bytes(), os.write
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:10]))
        logged(tuner, log, 1)
    assert log.path.read_bytes() == before


def test_file_that_nothing_could_be_written_to_holds_no_decisions(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.touch()
    assert list(read_log(path)) == []
    assert list(replayed(path)) == []


@pytest.mark.parametrize("content", [b"{}\n", b"nonsense\n", b"[1]\n", b'{"log": 99}\n', b"\xff\xfe\n"])
def test_what_is_no_log_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is no log of decisions"):
        list(replayed(path))


@pytest.mark.parametrize("line", [b"7", b"[]", b"null", b'"observation"', b"{}", b'{"observation": 7, "decision": []}'])
def test_line_that_is_no_decision_is_refused_after_those_that_are(tuner: Drive, tmp_path: Path, line: bytes) -> None:
    log = DecisionLog(tmp_path, "db1")
    logged(tuner, log, 2)
    log.path.write_bytes(log.path.read_bytes() + line + b"\n")
    read = read_log(log.path)
    assert [next(read).observation for _ in range(2)] == tuner.observations
    with pytest.raises(StoreError, match=r"holds a line that is no decision: .*$"):
        next(read)


def test_lines_that_cannot_be_read_are_left_out_and_counted_where_that_is_asked_for(
    tuner: Drive, tmp_path: Path
) -> None:
    """Before, `why` told nothing of a log with one such line, and the page all the rest."""
    log = DecisionLog(tmp_path, "db1")
    logged(tuner, log, 2)
    head, first, second, _ = log.path.read_bytes().split(b"\n")
    log.path.write_bytes(b"\n".join([head, b"{,", first, b"7", b"\x00\xff", second, b""]))
    told: list[str] = []
    assert [each.observation for each in read_log(log.path, told.append)] == tuner.observations
    assert told == [f"3 lines of {log.path} that cannot be read"]
    with pytest.raises(StoreError, match="is no log of decisions"):
        list(read_log(log.path))


def test_pipe_is_no_log(tmp_path: Path) -> None:
    """Before, it was waited for until somebody wrote to it."""
    os.mkfifo(tmp_path / "decisions.jsonl")
    with pytest.raises(StoreError, match="it is no regular file"):
        list(read_log(tmp_path / "decisions.jsonl"))


def test_file_without_a_memory_is_not_replayed(tmp_path: Path) -> None:
    path = tmp_path / "decisions.jsonl"
    path.write_text('{"log": 1}\n{}\n')
    with pytest.raises(StoreError, match="does not tell what was remembered"):
        list(replayed(path))


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="name another folder with --log"):
        DecisionLog(tmp_path / "file" / "folder", "db1")


def test_log_is_private(tuner: Drive, tmp_path: Path) -> None:
    log: Any = DecisionLog(tmp_path / "new", "db1")
    logged(tuner, log, 1)
    assert log.path.stat().st_mode & 0o077 == 0
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
