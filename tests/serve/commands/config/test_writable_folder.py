"""A folder is tried, not judged by its rights alone, and nothing of the trial stays."""

import os
import tempfile
from pathlib import Path

import pytest

from poolpilot.serve.commands.config.writable_folder import can_be_written


def test_folder_that_is_missing_can_be_made_and_nothing_is(tmp_path: Path) -> None:
    assert can_be_written(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    before = tmp_path.stat().st_mtime_ns
    assert can_be_written(tmp_path)
    assert tmp_path.stat().st_mtime_ns == before


def test_file_system_that_takes_nothing_is_refused_whatever_rights_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, root was told that decisions are kept in /proc/x, where no folder can be made."""
    monkeypatch.setattr(os, "access", lambda *_: True)
    assert not can_be_written(Path("/proc/poolpilot-decisions"))


def test_folder_of_a_file_or_of_a_link_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert not can_be_written(tmp_path / "file" / "log")
    assert not can_be_written(tmp_path / "link")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_place_that_takes_folders_and_no_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(**_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(tempfile, "TemporaryFile", refuses)
    assert not can_be_written(tmp_path / "log")
    assert list(tmp_path.iterdir()) == []
