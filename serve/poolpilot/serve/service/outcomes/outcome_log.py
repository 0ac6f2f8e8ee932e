"""The writer of outcomes; the package states its protocol."""

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog

from poolpilot.errors import StoreError, TakenFolderError
from poolpilot.serve.service.outcomes.open_segment import OpenSegment, cut_torn_end
from poolpilot.serve.service.outcomes.outcome_segments import (
    identifier_of,
    number_of,
    segment_path,
    segments,
    whole_lines,
)
from poolpilot.serve.service.outcomes.reported_outcome import ReportedOutcome

LOCK_FILE = ".lock"

_LOG = structlog.get_logger(__name__)


class OutcomeLog:
    """Appends outcomes durably; for one thread at a time, and one process a folder.

    Args:
        folder: Where the segments are; made if missing.
        segment_bytes: Length above which a segment gets no further line.

    Raises:
        TakenFolderError: Another process writes to the folder.
        StoreError: It cannot be written.
    """

    def __init__(self, folder: Path, segment_bytes: int) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._segment: OpenSegment | None = None
        self._lock = _locked(folder)
        try:
            found = segments(folder)
            _drop_torn_ends(found)
            self._identifiers = {identifier_of(line) for segment in found for line in whole_lines(segment)}
            self._number = max(map(number_of, found), default=0)
        except StoreError:
            os.close(self._lock)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leaves the folder to another writer."""
        self._leave_segment()
        os.close(self._lock)

    def append(self, outcome: ReportedOutcome) -> bool:
        """Writes an outcome; when this returns it is on disk.

        Returns:
            Whether it was written; not where its identifier is there already.

        Raises:
            StoreError: It could not be written and does not count as reported.
        """
        if outcome.id in self._identifiers:
            return False
        line = json.dumps(outcome.as_dict(), allow_nan=False).encode() + b"\n"
        try:
            self._segment_for(len(line)).append(line)
        except OSError as error:
            raise StoreError(f"the outcome cannot be kept: {error.strerror}; report it again later") from error
        self._identifiers.add(outcome.id)
        return True

    def _segment_for(self, length: int) -> OpenSegment:
        """The segment that a line of this length goes to."""
        if self._segment is not None and not self._segment.takes(length, self._segment_bytes):
            self._leave_segment()
        if self._segment is None:
            self._segment = OpenSegment(segment_path(self._folder, self._number + 1))
            self._number += 1
        return self._segment

    def _leave_segment(self) -> None:
        if self._segment is not None:
            self._segment.close()
            self._segment = None


def _locked(folder: Path) -> int:
    """The descriptor that holds the folder for this process."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"cannot keep outcomes in {folder}: {error.strerror}; choose another folder") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        taken = f"another process keeps outcomes in {folder}: end it or choose another folder"
        raise TakenFolderError(taken) from error
    return descriptor


def _drop_torn_ends(found: list[Path]) -> None:
    for segment in found:
        try:
            torn = cut_torn_end(segment)
        except OSError as error:
            raise StoreError(f"cannot mend {segment}: {error.strerror}") from error
        if torn:
            _LOG.warning("dropped the torn end of a segment; nobody was told that it is there", segment=str(segment))
