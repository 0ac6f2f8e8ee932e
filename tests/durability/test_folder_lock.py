"""One process at a time has a folder, and whoever dies leaves it."""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from poolpilot.durability.folder_lock import lock_folder, locked_folder
from poolpilot.errors import StoreError, TakenFolderError

HOLDING = """
import sys, time
from pathlib import Path
from poolpilot.durability.folder_lock import lock_folder
lock_folder(Path(sys.argv[1]), "learns")
print("held", flush=True)
time.sleep(600)
"""


def test_second_one_is_told_and_comes_in_once_the_first_has_left(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "learned"
    with (
        locked_folder(folder, "learns"),
        pytest.raises(TakenFolderError, match=f"another process learns in {folder}: end it"),
    ):
        lock_folder(folder, "learns")
    os.close(lock_folder(folder, "learns"))


def test_who_is_killed_leaves_it(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDING, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(TakenFolderError):
            lock_folder(tmp_path, "learns")
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(lock_folder(tmp_path, "learns"))


def test_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="choose another folder"):
        lock_folder(tmp_path / "file" / "below", "learns")


def test_file_system_without_locks_is_no_process_that_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unknown)
    with pytest.raises(StoreError, match="cannot be locked: No locks available") as told:
        lock_folder(tmp_path, "learns")
    assert not isinstance(told.value, TakenFolderError)
