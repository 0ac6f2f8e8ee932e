"""One program at a time uses a test server, and a folder that is of no use is a sentence."""

import fcntl
import os
from pathlib import Path

import pytest

from poolpilot.errors import ServerError, TakenLabError
from poolpilot.lab.host.folder import LabFolder
from poolpilot.lab.host.lab_lock import locked_lab
from poolpilot.lab.instance import Lab, LabSettings


def test_second_program_is_told_that_the_test_server_is_taken(tmp_path: Path) -> None:
    places = LabFolder(tmp_path / "small")
    refused = pytest.raises(TakenLabError, match="another program uses the test server")
    with locked_lab(places), refused, locked_lab(places):
        pass
    with locked_lab(places):
        assert places.lock.exists()


def test_file_in_its_place_is_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text("a page", encoding="utf-8")
    for folder, reason in ((file, "that is a file; name a folder"), (file / "small", "Not a directory")):
        lab = Lab(folder, LabSettings(dataset="empty"))
        with pytest.raises(ServerError, match=reason), lab.restarted():
            pass
        with pytest.raises(ServerError, match=reason):
            lab.up()


def test_folder_of_somebody_else_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(ServerError, match="Permission denied; choose another folder"), locked_lab(LabFolder(tmp_path)):
        pass


def test_file_system_without_locks_is_no_program_that_uses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unknown)
    refused = pytest.raises(ServerError, match="cannot be locked: No locks available")
    with refused as told, locked_lab(LabFolder(tmp_path)):
        pass
    assert not isinstance(told.value, TakenLabError)
