"""The command `poolpilot`: its own sub-commands, those of other folders, and the exit codes.

Exit codes: 0 done, 1 an error stated in one sentence, 2 wrong usage, 3 refused by a gate, 130 interrupted by Ctrl-C,
SIGTERM or SIGHUP.
"""

import sys
from importlib.metadata import entry_points, version

import typer

from poolpilot.featurizer.errors import PoolPilotError
from poolpilot.serve import (
    advise_command,
    climb_command,
    lab_command,
    mariadb_command,
    predict_command,
    restore_command,
    serve_command,
    sweep_command,
)

COMMANDS_GROUP = "poolpilot.commands"
"""Entry points of this group are functions `register(app: typer.Typer) -> None`."""

INTERRUPTED = 130
LOOK = "Look"
ACT = "Act"
LEARN = "Learn"


def build() -> typer.Typer:
    """Returns the command with the sub-commands of every installed folder."""
    app = typer.Typer(
        name="poolpilot",
        help="Tunes the thread pool of a live database server from a few seconds of its workload.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.command("advise", rich_help_panel=LOOK)(advise_command.advise)
    app.add_typer(mariadb_command.app, name="mariadb", rich_help_panel=LOOK)
    app.command("predict", rich_help_panel=LOOK)(predict_command.predict)
    app.command("climb", rich_help_panel=ACT)(climb_command.climb)
    app.command("sweep", rich_help_panel=ACT)(sweep_command.sweep)
    app.command("restore", rich_help_panel=ACT)(restore_command.restore)
    app.add_typer(lab_command.app, name="lab", rich_help_panel=LEARN)
    app.command("serve", rich_help_panel=ACT)(serve_command.serve)
    for entry_point in sorted(entry_points(group=COMMANDS_GROUP), key=lambda one: one.name):
        entry_point.load()(app)
    app.command("version", rich_help_panel=LOOK)(show_version)
    return app


def show_version() -> None:
    """Show the version of PoolPilot."""
    typer.echo(f"poolpilot {version('poolpilot')}")


def main() -> None:
    """Runs the command; a user's mistake is one sentence on stderr and never a traceback."""
    try:
        build()()
    except PoolPilotError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "poolpilot":
            raise
        _fail(
            f"this command needs {error.name!r}, which the base installation lacks; "
            "in a clone of PoolPilot: pip install '.[train]'"
        )


def _fail(sentence: str) -> None:
    sys.stderr.write(f"poolpilot: {sentence}\n")
    sys.exit(1)
