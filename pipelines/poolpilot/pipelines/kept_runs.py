"""A file of runs, one JSON value a line: a benchmark that was stopped goes on from it."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path
from typing import Any, TextIO

from pydantic import BaseModel


def read_runs(kept: Path | None) -> Iterator[Any]:
    """What a file holds; nothing where there is none. A line that was torn is left out."""
    if kept is None or not kept.exists():
        return
    for line in kept.read_text().splitlines():
        try:
            yield json.loads(line)
        except JSONDecodeError:
            continue


@contextmanager
def opened_for_more(kept: Path | None) -> Iterator[TextIO | None]:
    """The file, to append to, after a line end where the last line is torn; None where nothing is kept."""
    if kept is None:
        yield None
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    torn = kept.exists() and kept.read_text()[-1:] not in ("", "\n")
    with kept.open("a") as out:
        out.write("\n" if torn else "")
        yield out


def digest_of(settings: BaseModel, but: Iterable[str]) -> str:
    """What all runs of a file are measured under: runs of other settings are not taken for these.

    Args:
        settings: The settings.
        but: Names of those that say which runs there are, or what becomes of them, and change none.
    """
    return hashlib.sha256(settings.model_dump_json(exclude=set(but)).encode()).hexdigest()[:16]


def keep_run(run: Any, out: TextIO | None) -> None:
    """Writes a run, which is in the file when this returns."""
    if out is not None:
        out.write(json.dumps(run) + "\n")
        out.flush()
