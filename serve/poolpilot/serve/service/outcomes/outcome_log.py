"""The writer of outcomes; the package states its protocol."""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog

from poolpilot.durability.folder_lock import lock_folder
from poolpilot.errors import StoreError, TakenNameError
from poolpilot.serve.service.outcomes.open_segment import OpenSegment, mended
from poolpilot.serve.service.outcomes.outcome_segments import (
    digest_of,
    identifier_of,
    line_of,
    number_of,
    segment_path,
    segments,
    whole_lines,
)
from poolpilot.serve.service.outcomes.reported_outcome import ReportedOutcome

MOST_IDENTIFIERS = 500_000
"""Latest outcomes that a repeat is told of, in 80 to 120 MB; an older one is written again, and read once."""

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
        self._closed = False
        self._lock = lock_folder(folder, "keeps outcomes", 0o700)
        try:
            found = segments(folder)
            _drop_torn_ends(found)
            self._digests: dict[str, bytes] = {}  # by identifier, the latest last
            for segment in found:
                for line in whole_lines(segment):
                    if (identifier := identifier_of(line)) is not None:
                        self._digests.setdefault(identifier, digest_of(line))
                        self._forget_the_oldest()
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
        self._closed = True
        self._leave_segment()
        os.close(self._lock)

    def append(self, outcome: ReportedOutcome) -> bool:
        """Writes an outcome; when this returns it is on disk.

        Returns:
            Whether it was written; not where its identifier is there already.

        Raises:
            TakenNameError: Another outcome is kept under its identifier.
            StoreError: It could not be written and does not count as reported.
        """
        if self._closed:
            raise StoreError(f"the outcome cannot be kept: {self._folder} is left to another writer")
        line = line_of(outcome.as_dict())
        digest = digest_of(line)
        if (known := self._digests.get(outcome.id)) is not None:
            if known != digest:
                raise TakenNameError(
                    f"another outcome is kept under the id {outcome.id!r}: report this one under its own"
                )
            return False
        try:
            self._segment_for(len(line)).append(line)
        except OSError as error:
            raise StoreError(f"the outcome cannot be kept: {error.strerror}; report it again later") from error
        self._digests[outcome.id] = digest
        self._forget_the_oldest()
        return True

    def _forget_the_oldest(self) -> None:
        if len(self._digests) > MOST_IDENTIFIERS:
            del self._digests[next(iter(self._digests))]

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


def _drop_torn_ends(found: list[Path]) -> None:
    for segment in found:
        try:
            torn = mended(segment)
        except OSError as error:
            raise StoreError(f"cannot mend {segment}: {error.strerror}") from error
        if torn:
            _LOG.warning("dropped the torn end of a segment; no client had an answer for it", segment=str(segment))
