"""A file of runs, one JSON value a line: a benchmark that was stopped goes on from it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path
from typing import Any, TextIO

from poolpilot.errors import SettingError


def read_runs(kept: Path | None) -> Iterator[Any]:
    """What a file holds; nothing where there is none. A line that was torn is left out.

    Raises:
        SettingError: It is no file of runs.
    """
    if kept is None or not kept.exists():
        return
    for line in _checked_text(kept).splitlines():
        try:
            yield json.loads(line)
        except (JSONDecodeError, RecursionError):
            continue


@contextmanager
def opened_for_more(kept: Path | None) -> Iterator[TextIO | None]:
    """The file, to append to, after a line end where the last line is torn; None where nothing is kept.

    Raises:
        SettingError: It is no file of runs, which would be spoilt.
    """
    if kept is None:
        yield None
        return
    kept.parent.mkdir(parents=True, exist_ok=True)
    torn = kept.exists() and _checked_text(kept)[-1:] not in ("", "\n")
    with kept.open("a") as out:
        out.write("\n" if torn else "")
        yield out


def _checked_text(kept: Path) -> str:
    """The text of a file of runs.

    Raises:
        SettingError: It is none, or cannot be read.
    """
    try:
        text = kept.read_text()
    except OSError as error:
        raise SettingError(f"cannot read the file of runs {kept}: {error.strerror}; name another one") from error
    except UnicodeDecodeError as error:
        raise SettingError(_no_runs(kept)) from error
    lines = [line for line in text.splitlines() if line.strip()]
    # Whoever was ended in its first run leaves nothing but a torn line, which begins as an object or a list does.
    if not any(map(_is_json, lines)) and not all(line.startswith(("{", "[")) for line in lines):
        raise SettingError(_no_runs(kept))
    return text


def _no_runs(kept: Path) -> str:
    return f"{kept} is no file of runs, of whose lines each is a JSON value: name a new file, or one that holds runs"


def _is_json(line: str) -> bool:
    """Whether a line may be a run; those of a laid out JSON file are indented, ours never."""
    try:
        json.loads(line)
    except (JSONDecodeError, RecursionError):
        return False
    return not line[0].isspace()


def keep_run(run: Any, out: TextIO | None) -> None:
    """Writes a run, which is in the file when this returns."""
    if out is not None:
        out.write(json.dumps(run) + "\n")
        out.flush()
