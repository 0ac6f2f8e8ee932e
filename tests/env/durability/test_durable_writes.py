"""Whole writes, and folders whose names survive."""

import errno
import os
from pathlib import Path

import pytest

from poolpilot.env.durability.durable_writes import flush_folder, write_whole


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


def test_only_a_folder_is_flushed(tmp_path: Path) -> None:
    flush_folder(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        flush_folder(tmp_path / "file")
