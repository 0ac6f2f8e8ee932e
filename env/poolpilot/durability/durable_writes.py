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


def append_durably(descriptor: int, data: bytes) -> None:
    """Writes all of the data to a file, in one piece; when this returns it is on disk.

    Raises:
        OSError: It is not, or part of it only, which the caller cuts off.
    """
    write_whole(descriptor, data)
    os.fsync(descriptor)


def write_new(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Writes a file that was not there; when this returns its content is on disk, but its name may not be yet.

    Args:
        path: The file, in an existing folder.
        content: Its bytes.
        mode: Its rights, before the umask.

    Raises:
        OSError: The disk refuses, or there is such a file.
    """
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def write_durably(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Writes a file so that after a crash, or on a full disk, it is there whole or as it was before.

    Args:
        path: Final place, in an existing folder.
        content: Its bytes.
        mode: Its rights, before the umask.

    Raises:
        OSError: The disk refuses.
    """
    beside = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        write_new(beside, content, mode)
        rename_durably(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise


def rename_durably(path: Path, target: Path) -> None:
    """Gives a file, link or folder another name in the same folder; when this returns it has that for good.

    Raises:
        OSError: It cannot be renamed, or the disk does not take the name.
    """
    path.rename(target)
    flush_folder(target.parent)


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
