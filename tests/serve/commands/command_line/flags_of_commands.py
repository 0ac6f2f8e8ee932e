"""The commands and their flags, as Typer reads them."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import typer.main

from poolpilot.serve.commands.main import build


@cache
def commands() -> dict[str, Any]:
    """Every command by its name, those of groups too."""
    return dict(_of(typer.main.get_command(build())))


def command_of(line: str) -> tuple[str, Any]:
    """The command that a line or a use names, and its name."""
    words = line.split()
    names = (" ".join(words[:number]) for number in (2, 1))
    return next((name, commands()[name]) for name in names if name in commands())


def flags_of(command: Any) -> set[str]:
    """The flags of a command."""
    flags = {one for parameter in command.params for one in (*parameter.opts, *parameter.secondary_opts)}
    return {flag for flag in flags if flag.startswith("--")}


def _of(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _of(command, f"{before}{name} ")
        else:
            yield before + name, command
