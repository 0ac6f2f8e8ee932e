"""Writes that survive a loss of power, as far as the disk keeps its word: of lines that count, and of whole files."""

import errno
import os
from pathlib import Path
from uuid import uuid4


def write_whole(descriptor: int, data: bytes) -> None:
    """Writes all of the data to a file, in one piece; it is on disk only after an `fsync`.

    Raises:
        OSError: It could not be written, or part of it only, which the caller cuts off.
    """
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def write_durably(path: Path, content: bytes) -> None:
    """Writes a file so that after a crash, or on a full disk, it is there whole or as it was before.

    Args:
        path: Final place, in an existing folder.
        content: Its bytes.

    Raises:
        OSError: The disk refuses.
    """
    beside = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.rename(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Makes the names in a folder survive too.

    Raises:
        OSError: The disk does not take them.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
