"""What every command prints and writes alike: the terminal, warnings, and tables for machines."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from poolpilot.durability.durable_writes import write_durably
from poolpilot.errors import SettingError


def terminal(*, stderr: bool = False, quiet: bool = False) -> Console:
    """The console that every command prints on.

    What is printed are sentences and data of servers, files and users: `[mariadb]` in them is no markup, `:key:` no
    picture. What is to stand out is a `rich.text.Text`.
    """
    return Console(markup=False, emoji=False, stderr=stderr, quiet=quiet)


def introduce(reached: object | None, warnings: Sequence[str], console: Console) -> None:
    """Prints which server was reached, before anything else, and what to know of it.

    Args:
        reached: The server and the way to it; None where there is none but the program's own.
        warnings: What to know before anything is set, as sentences.
        console: Where to print.
    """
    if reached is not None:
        console.print(f"Reached {reached}.", highlight=False, soft_wrap=True)
    warn(warnings, console)


def warn(warnings: Sequence[str], console: Console) -> None:
    """Prints what to know before anything is set."""
    for warning in warnings:
        console.print(Text.assemble(("Warning:", "bold"), " ", warning), soft_wrap=True)


def check_folder(path: Path | None) -> None:
    """Refuses a file that could not be written at the end, before there is anything to lose.

    Raises:
        SettingError: There is no such folder, or it is one itself.
    """
    if path is not None and not path.absolute().parent.is_dir():
        raise SettingError(f"cannot write {path}: there is no such folder")
    if path is not None and path.is_dir():
        raise SettingError(f"cannot write {path}: it is a folder")


def make_folder(path: Path) -> None:
    """Makes the folder that files are to be written to, before there is anything to lose; one that is there stays.

    Raises:
        SettingError: It cannot be made, or written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise SettingError(f"cannot make the folder {path}: a file of that name is there; name another one") from error
    except OSError as error:
        raise SettingError(f"cannot make the folder {path}: {error.strerror}; name another one") from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise SettingError(f"cannot write to the folder {path}: name one of your own")


def write_json(path: Path | None, values: Mapping[str, Any] | Sequence[Any]) -> None:
    """Writes what a table shows for a program to read, where that is asked for; what is not finite becomes null.

    A row that fits one line stands on one, so that files can be read and compared line by line.

    Args:
        path: The file; None writes nothing.
        values: What it holds.

    Raises:
        SettingError: The file cannot be written.
    """
    if path is None:
        return
    write_file(path, f"{_laid_out(_finite(values))}\n")


def write_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all; into a pipe, a device or a folder of somebody else's as it comes.

    Raises:
        SettingError: It cannot be written; a file that was there before still is.
    """
    try:
        real = path.resolve()
        if real.exists() and not (real.is_file() and os.access(real.parent, os.W_OK)):
            path.write_text(text, encoding="utf-8")
        else:
            write_durably(real, text.encode())
    except OSError as error:
        raise SettingError(f"cannot write {path}: {error.strerror}") from error


def json_text(values: Any, indent: int | None = None) -> str:
    """JSON as text, names in order: what is not finite becomes null, what JSON does not know a text."""
    return json.dumps(_finite(values), indent=indent, sort_keys=indent is not None, default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    """The same with None for every number that strict readers of JSON refuse."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(inner) for name, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


LINE_WIDTH = 120


def _laid_out(value: Any, indent: str = "", name: str | None = None) -> str:
    """JSON in which everything that fits one line stands on one, and longer rows of plain values fill lines."""
    key = "" if name is None else f"{json.dumps(str(name))}: "
    line = key + json.dumps(value, allow_nan=False)
    if not isinstance(value, dict | list) or len(indent) + len(line) < LINE_WIDTH:
        return line
    inner = f"{indent} "
    named = list(value.items()) if isinstance(value, dict) else [(None, one) for one in value]
    rows = [_laid_out(one, inner, name) for name, one in named]
    if not any(isinstance(one, dict | list) for _, one in named):
        rows = _filled(rows, LINE_WIDTH - len(inner))
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{key}{opening}\n{inner}" + f",\n{inner}".join(rows) + f"\n{indent}{closing}"


def _filled(items: Sequence[str], width: int) -> list[str]:
    """Items with commas between them, as many a line as fit."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 < width:
            lines[-1] += f", {item}"
        else:
            lines.append(item)
    return lines
