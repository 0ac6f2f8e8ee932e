"""A run from its beginning to what is said of it, with the restoration."""

from collections.abc import Callable
from typing import TypeVar

from rich.console import Console

from poolpilot.env.output import introduce
from poolpilot.env.tuning.restoration import restoring
from poolpilot.env.tuning.target import Target
from poolpilot.serve.commands.options.tuning_options import TuningOptions
from poolpilot.serve.commands.tuning.tuning_run import TuningRun

Run = TypeVar("Run", bound=TuningRun)


def conduct(
    options: TuningOptions,
    command: str,
    preview: Callable[[Target], str],
    open_run: Callable[[Target], Run],
    report: Callable[[Run], None],
    console: Console,
) -> None:
    """Opens the server and runs on it; without leave to set a MariaDB server it only says what it would do.

    Args:
        options: Which server, whether it may be set, and whether what was reached stays.
        command: Which command asks, such as "climb".
        preview: Says what would be done.
        open_run: Makes the run, once nothing of an earlier command is left on the server.
        report: Prints and writes what was measured; called however the run ends.
        console: Where it is said what is in force at the end.

    Raises:
        KeyboardInterrupt: The user ended it; everything else is done all the same.
        SettingError: A setting or a tuple is refused, or the report cannot be written.
        ServerError: The server is gone, or somebody else has set a tuple, which is left alone.
    """
    with options.opened() as target:
        introduce(target.reached, target.warnings, console)
        if options.dsn is not None and not options.execute:
            console.print(preview(target), soft_wrap=True)
            return
        run_on(target, command, open_run, report, console, keep=options.keep)


def run_on(
    target: Target,
    command: str,
    open_run: Callable[[Target], Run],
    report: Callable[[Run], None],
    console: Console,
    *,
    keep: bool = False,
) -> None:
    """Runs on an open server, and brings the initial tuple back unless what was reached is to stay; see `conduct`."""
    with restoring(target.restoration, command, console, keep=keep):
        run = open_run(target)
        try:
            run.run()
        finally:
            report(run)
    if run.interrupted:
        raise KeyboardInterrupt
