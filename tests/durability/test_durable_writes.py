"""Whole writes, and folders whose names survive."""

import errno
import os
from pathlib import Path

import pytest

from poolpilot.durability.durable_writes import (
    append_durably,
    flush_folder,
    rename_durably,
    write_durably,
    write_new,
    write_whole,
)


def test_data_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb", buffering=0) as file:
        write_whole(file.fileno(), b"one line\n")
    assert path.read_bytes() == b"one line\n"


def test_part_of_it_is_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    with (tmp_path / "log").open("wb", buffering=0) as file, monkeypatch.context() as full:
        full.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:3]))
        with pytest.raises(OSError, match="No space left") as refused:
            write_whole(file.fileno(), b"one line\n")
    assert refused.value.errno == errno.ENOSPC


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What is flushed to the disk, in order."""
    flush, paths = os.fsync, list[Path]()

    def noted(descriptor: int) -> None:
        paths.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    return paths


def test_line_that_was_appended_is_on_the_disk(tmp_path: Path, flushed: list[Path]) -> None:
    path = tmp_path / "log"
    with path.open("ab", buffering=0) as file:
        append_durably(file.fileno(), b"one\n")
        append_durably(file.fileno(), b"two\n")
    assert path.read_bytes() == b"one\ntwo\n"
    assert flushed == [path, path]


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_file_is_replaced_whole_with_its_rights_and_its_name_survives(
    tmp_path: Path, flushed: list[Path], mode: int
) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"before")
    write_durably(path, b"after", mode)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"after", mode)
    assert [each.parent for each in flushed] == [tmp_path, tmp_path.parent], "the content first, then the name"
    assert list(tmp_path.iterdir()) == [path]


def test_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "kept"
    path.write_bytes(b"before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_durably(path, b"after")
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"before", [path])


def test_new_file_takes_the_place_of_none(tmp_path: Path, flushed: list[Path]) -> None:
    write_new(tmp_path / "new", b"content")
    assert flushed == [tmp_path / "new"]
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "new", b"other")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "link", b"other")
    assert (tmp_path / "new").read_bytes() == b"content"


def test_name_that_was_given_survives(tmp_path: Path, flushed: list[Path]) -> None:
    (tmp_path / "folder").mkdir()
    rename_durably(tmp_path / "folder", tmp_path / "renamed")
    assert ([path.name for path in tmp_path.iterdir()], flushed) == (["renamed"], [tmp_path])


def test_only_a_folder_is_flushed(tmp_path: Path) -> None:
    flush_folder(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        flush_folder(tmp_path / "file")
