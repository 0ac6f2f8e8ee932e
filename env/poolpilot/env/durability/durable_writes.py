"""Writes that survive a loss of power, as far as the disk keeps its word: for logs of which every line counts."""

import errno
import os
from pathlib import Path


def write_whole(descriptor: int, data: bytes) -> None:
    """Writes all of the data to a file, in one piece; it is on disk only after an `fsync`.

    Raises:
        OSError: It could not be written, or part of it only, which the caller cuts off.
    """
    if os.write(descriptor, data) < len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


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
