"""Folders of outcomes for processes that know nothing of each other: each writes to one of its own."""

from pathlib import Path

from poolpilot.errors import StoreError, TakenFolderError
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.outcomes.outcome_segments import writer_folder

MOST_WRITERS = 256
"""Folders that are tried before a replica gives up."""


def open_outcomes(folder: Path, segment_bytes: int) -> OutcomeLog:
    """Opens the first folder below this one that nobody writes to: after a replica that died, that one's.

    Args:
        folder: Where the folders of the replicas on this host, or on this file system, are.
        segment_bytes: Length above which a segment gets no further line.

    Raises:
        StoreError: It cannot be written, or all its folders are being written to.
    """
    for number in range(1, MOST_WRITERS + 1):
        try:
            return OutcomeLog(writer_folder(folder, number), segment_bytes)
        except TakenFolderError:
            continue
    raise StoreError(f"{MOST_WRITERS} replicas keep outcomes in {folder} already: end some or choose another folder")
