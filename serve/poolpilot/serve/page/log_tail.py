"""The lines of a tuner's log as they are written, across the files that it begins anew."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from poolpilot.errors import StoreError
from poolpilot.serve.tuner.decision_log import NAME, numbered

LONGEST_LINE = 1 << 20
"""Bytes; a longer line is none that a tuner wrote."""

MOST_BEFORE = 4 << 20
"""Bytes; older files are read at first until there are so many."""


def shown_path(path: str | Path) -> str:
    """A path, or a part of one, that can be written as UTF-8, whatever bytes it is made of."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


class LogTail:
    """Reads what is new in the log of one tuner; at first also what is kept of it.

    Args:
        folder: Where the log lies.

    Attributes:
        overtaken: Whether the log has gone on so far that lines between the last read and its files are gone; who reads
            it begins anew then.
    """

    def __init__(self, folder: Path) -> None:
        self.overtaken = False
        self._path = folder / NAME
        self._descriptor: int | None = None
        self._at = 0
        self._skips = False

    @property
    def begun(self) -> bool:
        """Whether there was a log to read."""
        return self._descriptor is not None

    def lines(self) -> Iterator[bytes]:
        """Whole lines that were not told yet, oldest first; a line that is too long is told as an empty one.

        Raises:
            StoreError: A file cannot be read.
        """
        try:
            if self._descriptor is None:
                yield from self._begun()
            else:
                yield from self._gone_on()
        except FileNotFoundError:
            return  # between two files, or gone: what comes later is told later
        except OSError as error:
            raise StoreError(f"cannot read {shown_path(self._path)}: {error.strerror}") from error

    def close(self) -> None:
        """Closes the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _begun(self) -> Iterator[bytes]:
        newest = os.open(self._path, os.O_RDONLY)
        try:
            for path in self._older(os.fstat(newest).st_size):
                if _is(path, newest):
                    continue  # it was begun anew just now
                with suppress(FileNotFoundError):
                    self._next(os.open(path, os.O_RDONLY))
                    yield from self._read()
        finally:
            self._next(newest)
        yield from self._read()

    def _older(self, size: int) -> list[Path]:
        """Files to read before the newest, oldest first."""
        found: list[Path] = []
        while size < MOST_BEFORE:
            path = self._numbered(len(found) + 1)
            if not path.exists():
                break
            size += path.stat().st_size
            found.append(path)
        return found[::-1]

    def _gone_on(self) -> Iterator[bytes]:
        assert self._descriptor is not None, "begun"
        yield from self._read()
        newest = os.open(self._path, os.O_RDONLY)
        if os.path.sameopenfile(newest, self._descriptor):
            os.close(newest)
            return
        yield from self._read()  # what came before the new file was begun
        self.overtaken = not _is(self._numbered(1), self._descriptor)
        self._next(newest)
        yield from self._read()

    def _numbered(self, number: int) -> Path:
        return numbered(self._path, number)

    def _next(self, descriptor: int | None) -> None:
        self.close()
        self._descriptor, self._at, self._skips = descriptor, 0, False

    def _read(self) -> Iterator[bytes]:
        """Whole lines of the file that is open; a torn one is read again once it is whole.

        A tuner whose disk is full takes away the part of a line that it has written.
        """
        assert self._descriptor is not None, "open"
        self._at = min(self._at, os.fstat(self._descriptor).st_size)
        while block := os.pread(self._descriptor, LONGEST_LINE, self._at):
            *whole, torn = block.split(b"\n")
            if not whole and len(block) < LONGEST_LINE:
                return
            self._at += len(block) if not whole else len(block) - len(torn)
            if whole and self._skips:
                whole[0] = b""
            self._skips = not whole
            yield from whole


def _is(path: Path, descriptor: int) -> bool:
    """Whether a path leads to the file that is open."""
    with suppress(FileNotFoundError):
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    return False
