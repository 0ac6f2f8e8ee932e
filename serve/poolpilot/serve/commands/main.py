"""The command `poolpilot`: its sub-commands in their groups, and what becomes of an error.

A sub-command is imported when it is called, so that none waits for the others and a missing native module is a
sentence too.

Exit codes: 0 done, 1 an error stated in one sentence, 2 wrong usage, 3 refused by a gate, 130 interrupted by Ctrl-C,
SIGTERM or SIGHUP, while it still starts, too (`entry.py`).
"""

import os
import sys
import traceback
from importlib.metadata import version
from typing import Annotated

import typer

from poolpilot.env.interrupts import Interrupts
from poolpilot.errors import PoolPilotError
from poolpilot.serve.commands.observe.bench_command import bench
from poolpilot.serve.commands.options.settings_command import CommandPlace, add_settings_command
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

CONFIG_HELP = "Check the settings of a tuner or a service before it starts."
LAB_HELP = "A private MariaDB in a folder, with data sets and named loads."
MARIADB_HELP = "Check a MariaDB server's pool, and print the grants for a tuner."
RECORDS_HELP = "Read stored records."


def build() -> typer.Typer:
    """Returns the command with all its sub-commands."""
    app = typer.Typer(
        name="poolpilot",
        help="Tunes the thread pool of a live database server from a few seconds of its workload.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    _add_observe(app)
    _add_act(app)
    _add_learn(app)
    return app


def _add_observe(app: typer.Typer) -> None:

    add_settings_command(app, "demo", CommandPlace("observe.demo_command", "build_demo"), OBSERVE)
    add_settings_command(
        app, "demo-mariadb", CommandPlace("observe.demo_command", "build_demo_mariadb", "MARIADB_HELP"), OBSERVE
    )
    add_settings_command(app, "demo-production", CommandPlace("production.production_command"), OBSERVE)
    add_settings_command(app, "advise", CommandPlace("observe.advise_command"), OBSERVE)
    add_settings_command(app, "diagnose", CommandPlace("observe.diagnose_command"), OBSERVE)
    mariadb = typer.Typer(no_args_is_help=True)
    add_settings_command(mariadb, "grants", CommandPlace("observe.mariadb_command", "build_grants", "GRANTS_HELP"))
    add_settings_command(mariadb, "check", CommandPlace("observe.mariadb_command", "build_check", "CHECK_HELP"))
    app.add_typer(mariadb, name="mariadb", help=MARIADB_HELP, rich_help_panel=OBSERVE)
    config = typer.Typer(no_args_is_help=True)
    add_settings_command(config, "check", CommandPlace("config.config_command", "build_check", "CHECK_HELP"))
    app.add_typer(config, name="config", help=CONFIG_HELP, rich_help_panel=OBSERVE)
    add_settings_command(app, "bundle", CommandPlace("bundle.bundle_command"), OBSERVE)
    add_settings_command(app, "page", CommandPlace("observe.page_command"), OBSERVE)
    add_settings_command(app, "predict", CommandPlace("observe.predict_command"), OBSERVE)
    add_settings_command(app, "simulate", CommandPlace("observe.simulate_command"), OBSERVE)
    app.command("bench", rich_help_panel=OBSERVE)(bench)
    app.command("version", rich_help_panel=OBSERVE)(show_version)


def _add_act(app: typer.Typer) -> None:

    add_settings_command(app, "tune", CommandPlace("tune.tune_command"), ACT)
    add_settings_command(app, "why", CommandPlace("tune.why_command"), ACT)
    add_settings_command(app, "climb", CommandPlace("climb.climb_command"), ACT)
    add_settings_command(app, "search", CommandPlace("search.search_command"), ACT)
    add_settings_command(app, "sweep", CommandPlace("act.sweep_command"), ACT)
    add_settings_command(app, "restore", CommandPlace("act.restore_command"), ACT)
    add_settings_command(app, "serve", CommandPlace("act.serve_command"), ACT)


def _add_learn(app: typer.Typer) -> None:

    add_settings_command(app, "learn", CommandPlace("learn.learn_command"), LEARN)
    lab = typer.Typer(no_args_is_help=True)
    add_settings_command(lab, "up", CommandPlace("learn.lab_command", "build_up", "UP_HELP"))
    add_settings_command(lab, "load", CommandPlace("learn.lab_load"))
    add_settings_command(lab, "disk", CommandPlace("learn.lab_command", "build_disk", "DISK_HELP"))
    add_settings_command(lab, "down", CommandPlace("learn.lab_command", "build_down", "DOWN_HELP"))
    add_settings_command(lab, "workloads", CommandPlace("learn.lab_command", "build_workloads", "WORKLOADS_HELP"))
    app.add_typer(lab, name="lab", help=LAB_HELP, rich_help_panel=LEARN)
    add_settings_command(app, "collect", CommandPlace("learn.collect_command"), LEARN)
    records = typer.Typer(no_args_is_help=True)
    add_settings_command(records, "check", CommandPlace("learn.records_command", "build_check", "CHECK_HELP"))
    add_settings_command(records, "show", CommandPlace("learn.records_show_command", "build_show", "SHOW_HELP"))
    add_settings_command(records, "sql", CommandPlace("learn.records_sql_command", "build_sql", "SQL_HELP"))
    app.add_typer(records, name="records", help=RECORDS_HELP, rich_help_panel=LEARN)
    add_settings_command(app, "train", CommandPlace("learn.train_command"), LEARN)
    add_settings_command(app, "evaluate", CommandPlace("learn.evaluate_command"), LEARN)
    add_settings_command(app, "promote", CommandPlace("learn.promote_command"), LEARN)
    add_settings_command(app, "calibrate", CommandPlace("learn.calibrate_command"), LEARN)
    add_settings_command(app, "curves", CommandPlace("learn.curves_command"), LEARN)


def _show_version(wanted: bool) -> None:
    if wanted:
        show_version()
        raise typer.Exit


def options(
    show: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Takes what stands before a sub-command."""


def show_version() -> None:
    """Show the version of PoolPilot."""
    typer.echo(f"poolpilot {version('poolpilot')}")


def main() -> None:
    """Runs the command; an error is one sentence on stderr, and a traceback is for who asks for it."""
    try:
        with Interrupts(patient=False):  # else SIGTERM and SIGHUP would leave behind what a command has started
            build()()
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
