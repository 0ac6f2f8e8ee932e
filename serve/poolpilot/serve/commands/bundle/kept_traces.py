"""What tuners and other commands have left on this host: their last decisions, and journals of what is not rolled back.

Only lines that are theirs are taken: whatever else lies there under such a name, a link to a file of secrets say, is
no line of theirs.
"""

import json
import os
import stat
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from poolpilot.env.output import json_text
from poolpilot.serve.commands.bundle.bundle_part import BundlePart
from poolpilot.serve.commands.bundle.redaction import Redaction
from poolpilot.serve.tuner.decision_log import NAME, numbered

MOST_SERVERS = 16
"""Servers whose decisions go along, those that were written last."""

MOST_JOURNALS = 64
MOST_FILES = 8
"""Files of one log that are looked into."""

LONGEST_LINE = 1 << 20
"""Bytes; a longer line is none of ours."""

MOST_LINES = 64
"""Lines of a journal that go along beside its first one."""

DECISION_KEYS = ("log", "decision")
JOURNAL_KEYS = ("journal", "set")


def decisions(folder: Path, last: int, redaction: Redaction) -> Iterator[BundlePart]:
    """The last decisions about each server, with the head of the file that they stand in.

    Args:
        folder: Where logs lie, in itself and one level below.
        last: How many for a server.
        redaction: Takes secrets out.
    """
    logs = sorted((folder / NAME, *folder.glob(f"*/{NAME}")), key=_written_s, reverse=True)
    found = (_kept(path, last) for path in logs[:MOST_SERVERS])
    for number, lines in enumerate(filter(None, found)):
        server = redaction.text(str(lines[0].get("server") or "a server"))
        yield _part(f"decisions/{number}.jsonl", f"last decisions about {server}", lines, redaction)


def _kept(newest: Path, last: int) -> list[dict[str, Any]]:
    """The last decisions of a log, of older files too where the newest has too few: each start begins a file."""
    found: list[dict[str, Any]] = []
    for number in range(MOST_FILES):
        path = newest if number == 0 else numbered(newest, number)
        wanted = last - sum("decision" in line for line in found)
        if wanted <= 0:
            break
        found = [*_values(path, DECISION_KEYS, wanted), *found]
    return found


def journals(folder: Path, redaction: Redaction) -> Iterator[BundlePart]:
    """What commands have noted before they changed a server, and not rolled back."""
    found = (_values(path, JOURNAL_KEYS, MOST_LINES) for path in sorted(folder.glob("*.jsonl"))[:MOST_JOURNALS])
    for number, lines in enumerate(filter(None, found)):
        holds = "what a command noted before it changed a server"
        yield _part(f"journals/{number}.jsonl", holds, lines, redaction)


def _part(name: str, holds: str, lines: list[Any], redaction: Redaction) -> BundlePart:
    text = "".join(f"{json_text(redaction.value(line))}\n" for line in lines)
    return BundlePart(name, holds, text)


def _values(path: Path, keys: Collection[str], last: int) -> list[dict[str, Any]]:
    """The first line of a file and its last ones, those that are ours."""
    lines = _lines(path)
    first = next(lines, b"")
    latest = deque(lines, maxlen=last)
    return [value for line in (first, *latest) if (value := _ours(line, keys)) is not None]


def _ours(line: bytes, keys: Collection[str]) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        value = json.loads(line)
        if isinstance(value, dict) and any(key in value for key in keys):
            return value
    return None


def _lines(path: Path) -> Iterator[bytes]:
    """Lines of a regular file that is no link; none where it cannot be read."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                while line := file.readline(LONGEST_LINE):
                    yield line


def _written_s(path: Path) -> float:
    """When a file was last written; long ago where it is gone."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0
