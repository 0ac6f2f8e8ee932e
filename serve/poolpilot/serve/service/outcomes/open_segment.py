"""The segment that is written to: a line is in it whole and on disk, or not at all."""

import os
from contextlib import suppress
from pathlib import Path

from poolpilot.durability.durable_writes import flush_folder, write_whole


class OpenSegment:
    """A new segment.

    Attributes:
        size: Bytes that were acknowledged.
        sound: Whether more may be written; not once the kernel has not kept its word.

    Args:
        path: The file; there is none yet.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, path: Path) -> None:
        self.size = 0
        self.sound = True
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            flush_folder(path.parent)
        except OSError:
            os.close(self._descriptor)
            with suppress(OSError):
                path.unlink()
            raise

    def takes(self, length: int, limit_bytes: int) -> bool:
        """Whether a line of this length may be written; the first line may be longer than the limit."""
        return self.sound and (self.size == 0 or self.size + length <= limit_bytes)

    def append(self, line: bytes) -> None:
        """Writes a line; when this returns it is on disk.

        Raises:
            OSError: It could not be written; what came of it was cut off again.
        """
        try:
            write_whole(self._descriptor, line)
        except OSError:
            self._cut_back()
            raise
        try:
            os.fsync(self._descriptor)
        except OSError:
            # The kernel may have dropped what it could not write, and would not say so a second time.
            self.sound = False
            self._cut_back()
            raise
        self.size += len(line)

    def close(self) -> None:
        """Ends it."""
        os.close(self._descriptor)

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._descriptor, self.size)
        except OSError:
            self.sound = False


def mended(path: Path) -> int:
    """Cuts off what follows the last newline of a segment, and sees to it that the rest is on disk.

    A process that was killed may have written a line and not flushed it: nobody was told of it, but its client may ask
    again, and is then told that it is there.

    Returns:
        How many bytes were cut off.

    Raises:
        OSError: It cannot be read or written.
    """
    with path.open("r+b") as file:
        content = file.read()
        torn = len(content) - (content.rfind(b"\n") + 1)
        if torn:
            file.truncate(len(content) - torn)
        os.fsync(file.fileno())
    return torn
