"""The command `poolpilot`: its sub-commands in their groups, and what becomes of an error.

What a sub-command does is imported when it is called, so that none waits for the others and a missing native module is
a sentence too.

Exit codes: 0 done, 1 an error stated in one sentence, 2 wrong usage, 3 refused by a gate, 130 interrupted by Ctrl-C,
SIGTERM or SIGHUP, while it still starts, too (`entry.py`).
"""

import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Annotated

import typer
import typer.main

from poolpilot.env.interrupts import Interrupts
from poolpilot.errors import PoolPilotError
from poolpilot.serve.commands.command_line import act_commands, learn_commands, observe_commands
from poolpilot.serve.commands.command_line.names_of_before import refusal_of_before
from poolpilot.serve.commands.presentation.exit_codes import INTERRUPTED

OBSERVE = "Observe"
"""Commands that change and teach nothing."""

ACT = "Act"
"""Commands that change a server, or serve predictions."""

LEARN = "Learn"
"""Commands of staging."""

NATIVE_MODULE = "poolpilot.native_pool._core"
"""The compiled part, which a wheel for another Python or another machine lacks; nearly every command needs it."""

TRACEBACK = "POOLPILOT_TRACEBACK"
"""The variable that shows the traceback of a defect, too."""

SHOWN_OF_A_DEFECT = 300
"""Characters of what an error says that are told."""

GROUPS: Mapping[str, Sequence[Callable[..., None]]] = {
    OBSERVE: (
        observe_commands.demo,
        observe_commands.advise,
        observe_commands.check,
        observe_commands.grants,
        observe_commands.why,
        observe_commands.page,
        observe_commands.bundle,
    ),
    ACT: (act_commands.tune, act_commands.climb, act_commands.restore, act_commands.serve),
    LEARN: (learn_commands.learn, learn_commands.records, learn_commands.evaluate, learn_commands.bench),
}


def build() -> typer.Typer:
    """Returns the command with all its sub-commands."""
    app = typer.Typer(
        name="poolpilot",
        help="Tunes the thread pool of a live database server from a few seconds of its workload.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    for group, functions in GROUPS.items():
        for function in functions:
            app.command(help=in_paragraphs(function), rich_help_panel=group)(function)
    app.add_typer(learn_commands.lab, name="lab", rich_help_panel=LEARN)
    return app


def in_paragraphs(function: Callable[..., None]) -> str:
    """The help of a command: its docstring, each paragraph on one line, so that every terminal breaks it anew."""
    return "\n\n".join(" ".join(part.split()) for part in str(function.__doc__).split("\n\n"))


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"poolpilot {version('poolpilot')}")
        raise typer.Exit


def options(
    show: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Takes what stands before a sub-command."""


def main() -> None:
    """Runs the command; an error is one sentence on stderr, and a traceback is for who asks for it."""
    try:
        with Interrupts(patient=False):  # else SIGTERM and SIGHUP would leave behind what a command has started
            command = typer.main.get_command(build())
            if (refusal := refusal_of_before(sys.argv[1:], command)) is not None:
                sys.stderr.write(f"poolpilot: {refusal}\n")
                sys.exit(2)
            command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except Exception as error:  # whatever it is, an operator gets a sentence
        sentence = _foreseen(error)
        if sentence is None and os.environ.get(TRACEBACK):
            traceback.print_exception(error)
        sys.stderr.write(f"poolpilot: {sentence or _defect(error)}\n")
        sys.exit(1)


def _foreseen(error: Exception) -> str | None:
    """What is told of a user's mistake, or of what the system or an installation lacks; None for a defect."""
    if isinstance(error, PoolPilotError):
        return str(error)
    if isinstance(error, OSError):  # of a file or a socket that no command has foreseen
        return f"{_refused(error)}: see to rights, space and what is there, then call it again"
    if not isinstance(error, ImportError):
        return None
    if error.name == NATIVE_MODULE:
        return (
            f"the native module {NATIVE_MODULE} cannot be loaded ({error.msg}): this installation is for another "
            "Python or machine, or was not built; in a clone of PoolPilot: pip install ."
        )
    ours = error.name is None or error.name.partition(".")[0] == "poolpilot"
    if ours or not isinstance(error, ModuleNotFoundError):
        return None
    return (
        f"this command needs {error.name!r}, which the base installation lacks; "
        "in a clone of PoolPilot: pip install '.[train]'"
    )


def _defect(error: Exception) -> str:
    """What is told of an error that nobody has foreseen."""
    said = " ".join(str(error).split())
    shown = said if len(said) <= SHOWN_OF_A_DEFECT else f"{said[:SHOWN_OF_A_DEFECT]}..."
    kind = type(error).__name__
    return (
        f"this is a defect of PoolPilot ({f'{kind}: {shown}' if shown else kind}): report it with what `poolpilot "
        f"bundle` gathers and with the traceback, which {TRACEBACK}=1 in the environment shows when it happens again"
    )


def _refused(error: OSError) -> str:
    """What the system has refused, and for which files."""
    named = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return f"the system refuses {' and '.join(named) or 'what was asked of it'} ({error.strerror or error})"
