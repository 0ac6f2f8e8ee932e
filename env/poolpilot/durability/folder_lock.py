"""A folder that one process at a time may write to; the lock ends with the process, however that ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from poolpilot.durability.durable_writes import flush_folder
from poolpilot.errors import StoreError, TakenFolderError

LOCK_FILE = ".lock"


def lock_folder(folder: Path, doing: str, mode: int = 0o777, name: str = LOCK_FILE) -> int:
    """Takes a folder for this process; it is made where it is missing. Closing the descriptor leaves it to others.

    Args:
        folder: The folder.
        doing: What only one process may do in it, as a verb with its object.
        mode: Rights of a folder that is made, before the umask.
        name: Name of the file that is locked.

    Raises:
        TakenFolderError: Another process has it.
        StoreError: It cannot be made, written or locked.
    """
    try:
        if not folder.exists():
            folder.mkdir(mode=mode, parents=True, exist_ok=True)
            flush_folder(folder.parent)
        descriptor = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"cannot write to {folder}: {error.strerror}; choose another folder") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise TakenFolderError(f"another process {doing} in {folder}: end it or choose another folder") from error
    except OSError as error:
        os.close(descriptor)
        raise StoreError(f"{folder} cannot be locked: {error.strerror}; choose another folder") from error
    return descriptor


@contextmanager
def locked_folder(folder: Path, doing: str) -> Iterator[None]:
    """Takes a folder for the duration of the block; see `lock_folder`."""
    descriptor = lock_folder(folder, doing)
    try:
        yield
    finally:
        os.close(descriptor)
