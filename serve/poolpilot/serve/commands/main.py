"""The command `poolpilot`: its sub-commands in their groups, and what becomes of an error.

The sub-commands are imported when the command runs, so that a missing native module is a sentence too.

Exit codes: 0 done, 1 an error stated in one sentence, 2 wrong usage, 3 refused by a gate, 130 interrupted by Ctrl-C,
SIGTERM or SIGHUP.
"""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from poolpilot.env.interrupts import Interrupts
from poolpilot.errors import PoolPilotError
from poolpilot.serve.commands.options.settings_command import add_settings_command
from poolpilot.serve.commands.presentation.exit_codes import INTERRUPTED

LOOK = "Look"
"""Commands that change and teach nothing."""

ACT = "Act"
"""Commands that change a server, or serve predictions."""

LEARN = "Learn"
"""Commands of staging."""

NATIVE_MODULE = "poolpilot.native_pool._core"
"""The compiled part, which a wheel for another Python or another machine lacks; nearly every command needs it."""

BENCH_HELP = "Benchmarks, each with its peers in the same run."


def build() -> typer.Typer:
    """Returns the command with all its sub-commands."""
    app = typer.Typer(
        name="poolpilot",
        help="Tunes the thread pool of a live database server from a few seconds of its workload.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    _add_look(app)
    _add_act(app)
    _add_learn(app)
    return app


def _add_look(app: typer.Typer) -> None:
    from poolpilot.serve.commands.bundle import bundle_command
    from poolpilot.serve.commands.config import config_command
    from poolpilot.serve.commands.look import (
        advise_command,
        bench_climbers_command,
        bench_pool_command,
        bench_simulator_command,
        demo_command,
        diagnose_command,
        mariadb_command,
        page_command,
        predict_command,
        simulate_command,
    )
    from poolpilot.serve.commands.production import production_command

    add_settings_command(app, "demo", demo_command.HELP, demo_command.build_demo, LOOK)
    add_settings_command(app, "demo-mariadb", demo_command.MARIADB_HELP, demo_command.build_demo_mariadb, LOOK)
    add_settings_command(app, "demo-production", production_command.HELP, production_command.build, LOOK)
    add_settings_command(app, "advise", advise_command.HELP, advise_command.build, LOOK)
    add_settings_command(app, "diagnose", diagnose_command.HELP, diagnose_command.build, LOOK)
    mariadb = typer.Typer(no_args_is_help=True)
    add_settings_command(mariadb, "grants", mariadb_command.GRANTS_HELP, mariadb_command.build_grants)
    add_settings_command(mariadb, "check", mariadb_command.CHECK_HELP, mariadb_command.build_check)
    app.add_typer(mariadb, name="mariadb", help=mariadb_command.HELP, rich_help_panel=LOOK)
    config = typer.Typer(no_args_is_help=True)
    add_settings_command(config, "check", config_command.CHECK_HELP, config_command.build_check)
    app.add_typer(config, name="config", help=config_command.HELP, rich_help_panel=LOOK)
    add_settings_command(app, "bundle", bundle_command.HELP, bundle_command.build, LOOK)
    add_settings_command(app, "page", page_command.HELP, page_command.build, LOOK)
    add_settings_command(app, "predict", predict_command.HELP, predict_command.build, LOOK)
    add_settings_command(app, "simulate", simulate_command.HELP, simulate_command.build, LOOK)
    bench = typer.Typer(no_args_is_help=True)
    add_settings_command(bench, "climbers", bench_climbers_command.HELP, bench_climbers_command.build)
    add_settings_command(bench, "pool", bench_pool_command.HELP, bench_pool_command.build)
    add_settings_command(bench, "simulator", bench_simulator_command.HELP, bench_simulator_command.build)
    app.add_typer(bench, name="bench", help=BENCH_HELP, rich_help_panel=LOOK)
    app.command("version", rich_help_panel=LOOK)(show_version)


def _add_act(app: typer.Typer) -> None:
    from poolpilot.serve.commands.act import restore_command, serve_command, sweep_command
    from poolpilot.serve.commands.climb import climb_command
    from poolpilot.serve.commands.search import search_command
    from poolpilot.serve.commands.tune import tune_command, why_command

    add_settings_command(app, "tune", tune_command.HELP, tune_command.build, ACT)
    add_settings_command(app, "why", why_command.HELP, why_command.build, ACT)
    add_settings_command(app, "climb", climb_command.HELP, climb_command.build, ACT)
    add_settings_command(app, "search", search_command.HELP, search_command.build, ACT)
    add_settings_command(app, "sweep", sweep_command.HELP, sweep_command.build, ACT)
    add_settings_command(app, "restore", restore_command.HELP, restore_command.build, ACT)
    add_settings_command(app, "serve", serve_command.HELP, serve_command.build, ACT)


def _add_learn(app: typer.Typer) -> None:
    from poolpilot.serve.commands.learn import (
        calibrate_command,
        collect_command,
        curves_command,
        evaluate_command,
        lab_command,
        learn_command,
        promote_command,
        records_command,
        records_show_command,
        records_sql_command,
        train_command,
    )

    add_settings_command(app, "learn", learn_command.HELP, learn_command.build, LEARN)
    lab = typer.Typer(no_args_is_help=True)
    lab_command.add_to(lab)
    app.add_typer(lab, name="lab", help=lab_command.HELP, rich_help_panel=LEARN)
    add_settings_command(app, "collect", collect_command.HELP, collect_command.build, LEARN)
    records = typer.Typer(no_args_is_help=True)
    add_settings_command(records, "check", records_command.CHECK_HELP, records_command.build_check)
    add_settings_command(records, "show", records_show_command.SHOW_HELP, records_show_command.build_show)
    add_settings_command(records, "sql", records_sql_command.SQL_HELP, records_sql_command.build_sql)
    app.add_typer(records, name="records", help=records_command.HELP, rich_help_panel=LEARN)
    add_settings_command(app, "train", train_command.HELP, train_command.build, LEARN)
    add_settings_command(app, "evaluate", evaluate_command.HELP, evaluate_command.build, LEARN)
    add_settings_command(app, "promote", promote_command.HELP, promote_command.build, LEARN)
    add_settings_command(app, "calibrate", calibrate_command.HELP, calibrate_command.build, LEARN)
    add_settings_command(app, "curves", curves_command.HELP, curves_command.build, LEARN)


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
    """Runs the command; a user's mistake is one sentence on stderr and never a traceback."""
    try:
        with Interrupts(patient=False):  # else SIGTERM and SIGHUP would leave behind what a command has started
            build()()
    except PoolPilotError as error:
        _fail(str(error))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:  # of a file or a socket that no command has foreseen
        _fail(f"{_refused(error)}: see to rights, space and what is there, then call it again")
    except ImportError as error:
        if error.name == NATIVE_MODULE:
            _fail(
                f"the native module {NATIVE_MODULE} cannot be loaded ({error.msg}): this installation is for another "
                "Python or machine, or was not built; in a clone of PoolPilot: pip install ."
            )
        ours = error.name is None or error.name.partition(".")[0] == "poolpilot"
        if ours or not isinstance(error, ModuleNotFoundError):
            raise
        _fail(
            f"this command needs {error.name!r}, which the base installation lacks; "
            "in a clone of PoolPilot: pip install '.[train]'"
        )


def _refused(error: OSError) -> str:
    """What the system has refused, and for which files."""
    named = [str(name) for name in (error.filename, error.filename2) if name is not None]
    return f"the system refuses {' and '.join(named) or 'what was asked of it'} ({error.strerror or error})"


def _fail(sentence: str) -> None:
    sys.stderr.write(f"poolpilot: {sentence}\n")
    sys.exit(1)
