"""The folder of outcomes: its segments, and reading them whole line by whole line."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from poolpilot.errors import StoreError
from poolpilot.models.prediction_request import RequestError
from poolpilot.serve.service.outcomes.reported_outcome import ROLLED_BACK, ROLLED_BACK_BEFORE, ReportedOutcome

SEGMENT = re.compile(r"outcomes-(\d{8})\.jsonl")

WRITER = re.compile(r"replica-\d{3,}")
"""The folder of one of several writers, in that of all."""

_IDENTIFIER = re.compile(rb'\{"id": "([A-Za-z0-9._:-]+)"')

_BY_NAME = re.compile(rb'\{"id": "[^"]+", "model_digest": ')
"""How a line begins whose names are in alphabetical order; older releases wrote another one."""

_END, _END_BEFORE = (f'"verdict": "{verdict}"}}\n'.encode() for verdict in (ROLLED_BACK, ROLLED_BACK_BEFORE))
"""How a line of what was rolled back ends, and how it did in older releases."""

DIGEST_BYTES = 8
"""Enough that two outcomes of one identifier are told apart."""


def read_outcomes(folder: Path, on_left_out: Callable[[str], None] | None = None) -> Iterator[ReportedOutcome]:
    """Gives the outcomes of a folder in the order in which they were reported; it may be written to meanwhile.

    After its own come those of the folders of several writers in it, one writer after another. One that came before is
    left out: what could not be rolled back, or was kept by another writer, may have been reported again.

    Args:
        folder: The folder.
        on_left_out: Is told of each whole line that is no outcome, as one of another version's schema, or that has the
            identifier of another outcome, as one that another writer kept; without it the first ends the reading.

    Raises:
        StoreError: The folder or a segment cannot be read, or a whole line is to be left out and nobody is told.
    """
    given: dict[str, bytes] = {}
    for segment in _segments_of_all(folder):
        for number, line in enumerate(whole_lines(segment), 1):
            try:
                outcome = _outcome(f"line {number} of {segment}", line)
                if given.get(outcome.id, digest := digest_of(line)) != digest:
                    raise StoreError(f"line {number} of {segment} has the id {outcome.id!r} of another outcome")
            except StoreError as error:
                if on_left_out is None:
                    raise
                on_left_out(str(error))
                continue
            if outcome.id not in given:
                given[outcome.id] = digest
                yield outcome


def _outcome(where: str, line: bytes) -> ReportedOutcome:
    try:
        return ReportedOutcome.from_json(json.loads(line))
    except (ValueError, RecursionError, RequestError) as error:
        raise StoreError(f"{where} is no outcome ({error})") from error


def segments(folder: Path) -> list[Path]:
    """The segments of a folder, oldest first.

    Raises:
        StoreError: The folder cannot be read.
    """
    try:
        return sorted(path for path in folder.iterdir() if SEGMENT.fullmatch(path.name))
    except OSError as error:
        raise StoreError(f"cannot read the outcomes in {folder}: {error.strerror}") from error


def _segments_of_all(folder: Path) -> list[Path]:
    own = segments(folder)
    writers = sorted(path for path in folder.iterdir() if WRITER.fullmatch(path.name) and path.is_dir())
    return [*own, *(segment for writer in writers for segment in segments(writer))]


def segment_path(folder: Path, number: int) -> Path:
    """The segment of a number, from 1 on."""
    return folder / f"outcomes-{number:08d}.jsonl"


def number_of(segment: Path) -> int:
    """The number of a segment."""
    found = SEGMENT.fullmatch(segment.name)
    assert found is not None
    return int(found[1])


def whole_lines(segment: Path) -> Iterator[bytes]:
    """The lines of a segment that end with a newline.

    Raises:
        StoreError: It cannot be read.
    """
    try:
        with segment.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))
    except OSError as error:
        raise StoreError(f"cannot read {segment}: {error.strerror}") from error


def line_of(values: object) -> bytes:
    """What is written of an outcome: the same whatever the order in which its client names things."""
    return json.dumps(values, allow_nan=False, sort_keys=True).encode() + b"\n"


def digest_of(line: bytes) -> bytes:
    """Tells whether two lines say the same."""
    if not _BY_NAME.match(line):
        with suppress(ValueError, RecursionError):  # a line that is no JSON says what it says
            line = line_of(json.loads(line))
    if line.endswith(_END_BEFORE):
        line = line.removesuffix(_END_BEFORE) + _END
    return blake2b(line, digest_size=DIGEST_BYTES).digest()


def identifier_of(line: bytes) -> str | None:
    """The identifier that a line begins with; None where it is no line of an outcome."""
    found = _IDENTIFIER.match(line)
    return found[1].decode() if found else None
