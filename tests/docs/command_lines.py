"""The lines of a page that call `poolpilot`, and what such a line asks for."""

import re
import shlex
from typing import Any
from unittest.mock import patch

import typer
import typer.main
from typer.core import TyperGroup

from poolpilot.env.program_settings import assigned, settings_within
from poolpilot.serve.commands.command_line import act_commands, learn_commands, observe_commands
from poolpilot.serve.commands.command_line.given_flags import CommandLine
from poolpilot.serve.commands.command_line.uses import use_named
from poolpilot.serve.commands.main import build

ACCOUNT = "F=/etc/poolpilot/client.cnf"
"""Stands for a server where a line names none."""

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What Typer raises for a wrong line; it names no public class for all of them."""

PLACEHOLDERS = {"DSN": ACCOUNT, "N": "1"}
OF_NO_SERVER = ("--windows", "--simulate", "--settings", "--backend", "--server")
"""Flags of lines that need none."""

ANY_COMMAND = "COMMAND"
"""Stands for a command whose settings are explained."""


def blocks(text: str, kind: str = "") -> list[str]:
    """The blocks of a page; those of a shell have no kind."""
    return [block for of, block in FENCED.findall(text) if of == kind]


def shown(text: str) -> list[str]:
    """The lines of the blocks that call it, without what follows a `#` or a `|`."""
    lines = [re.split(r"\s[#|]\s", line)[0].strip() for block in blocks(text) for line in block.splitlines()]
    called = [line.removeprefix("$ ").removeprefix("/opt/poolpilot/bin/") for line in lines]
    return [line for line in called if line.startswith("poolpilot ")]


def told(text: str) -> list[str]:
    """What is said of it in passing; what only hints at a command is left out."""
    lines = [" ".join(line.split()) for line in re.findall(r"`(poolpilot [^`]+)`", FENCED.sub("", text))]
    return [line for line in lines if not re.match(r"poolpilot (\.\.\.|COMMAND)( |$)", line)]


def given(line: str) -> list[str]:
    """The arguments of a line, with what is optional in it and something for what stands for another."""
    words = [word.removeprefix("[").removesuffix("]").removesuffix("...") for word in shlex.split(line)[1:]]
    return [PLACEHOLDERS.get(word, word) for word in words]


def named(arguments: list[str]) -> tuple[Any, list[str]]:
    """The command or group that arguments name, and what is left for it."""
    command: Any = typer.main.get_command(build())
    while isinstance(command, TyperGroup) and arguments and not arguments[0].startswith("-"):
        command, arguments = command.commands[arguments[0]], arguments[1:]
    return command, arguments


def check(line: str, *, complete: bool) -> None:
    """Has the command parse a line; nothing is run.

    Args:
        line: The line.
        complete: Whether whatever the command needs must be there, but for the server.

    Raises:
        KeyError: There is no such command.
        UsageError: It takes no such flags or settings, or not so many values.
    """
    command, arguments = named(given(line))
    if isinstance(command, TyperGroup):
        known = {name for parameter in command.params for name in (*parameter.opts, "--help")}
        if unknown := [word for word in arguments if word not in known]:
            raise typer.BadParameter(f"{line}: no {unknown}")
        return
    places = {parameter.name for parameter in command.params if parameter.param_type_name == "argument"}
    if "dsn" in places and not {*OF_NO_SERVER} & {*arguments} and not any("=" in one for one in arguments):
        arguments = [ACCOUNT, *arguments]
    try:
        context = command.make_context(line, arguments, resilient_parsing=False)
        asked(command, context)
    except (typer.Exit, SystemExit):  # the help
        return
    except typer.BadParameter as error:
        if complete or type(error).__name__ != "MissingParameter":
            raise


def asked(command: Any, context: Any) -> None:
    """Has a command say which use of it a line asks for, and whether flags and settings are of that use.

    Raises:
        BadParameter: They are not.
    """

    def run(use: str, line: CommandLine) -> None:
        model = use_named(use).model()
        known = settings_within(model)
        names = {*line.flags} - {*model.model_fields} | {*assigned(model, line.assignments)} - {*known}
        if names:
            raise typer.BadParameter(f"{', '.join(sorted(names))}: not of `poolpilot {use}`")

    def explain(use: str, line: CommandLine, *, all_of_them: bool) -> None:
        del all_of_them
        if use != ANY_COMMAND:
            run(use, line)

    modules = (act_commands, learn_commands, observe_commands)
    places = ("config.config_command.check_settings", "learn.lab_command.workloads")
    settings, workloads = (f"poolpilot.serve.commands.{place}" for place in places)
    with patch(settings, explain), patch(workloads, lambda _: None):
        patches = [patch.object(module, "run", run) for module in modules]
        for one in patches:
            one.start()
        try:
            command.invoke(context)
        finally:
            for one in patches:
                one.stop()
