"""Disks of a server that have no space left: a statement that meets one waits for space, in no state that says so."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from poolpilot.mariadb.host.process import ServerProcess
from poolpilot.mariadb.session import Session

FOLDERS_QUERY = "SELECT @@GLOBAL.datadir, @@GLOBAL.tmpdir"
LEAST_FREE_BYTES = 32 << 20
"""Less free space than this counts as none: a file of InnoDB's grows by 64 pages to 8 MB at a time."""


@dataclass(frozen=True, slots=True)
class FullDisk:
    """A folder of a server on a disk without space.

    Attributes:
        folder: The folder, as the server calls it.
        free_bytes: What is left to those who are not root.
    """

    folder: str
    free_bytes: int


def full_disks(session: Session, process: ServerProcess | None) -> tuple[FullDisk, ...]:
    """The folders of a server on this host whose disks are full; none of a server elsewhere.

    Args:
        session: Where to ask for the folders.
        process: The server's process, where it runs on this host.

    Raises:
        LostServerError: The server is gone.
    """
    return tuple(_full(process.pid, session.row(FOLDERS_QUERY))) if process else ()


def _full(pid: int, folders: tuple[object, ...]) -> Iterator[FullDisk]:
    for folder in {str(one) for one in folders if one}:
        for seen_as in (Path(f"/proc/{pid}/root{folder}"), Path(folder)):  # the first only for root and its own user
            try:
                found = os.statvfs(seen_as)
            except OSError:
                continue
            if (free := found.f_bavail * found.f_frsize) < LEAST_FREE_BYTES:
                yield FullDisk(folder, free)
            break
