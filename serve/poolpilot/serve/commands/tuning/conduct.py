"""A run from its beginning to what is said of it, with the way back."""

from collections.abc import Callable
from typing import TypeVar

from rich.console import Console

from poolpilot.env.tuning.target import Target
from poolpilot.env.tuning.way_back import restoring
from poolpilot.serve.commands.tuning.tuning_run import TuningRun

Run = TypeVar("Run", bound=TuningRun)


def conduct(
    target: Target,
    command: str,
    open_run: Callable[[], Run],
    report: Callable[[Run], None],
    console: Console,
    *,
    keep: bool = False,
) -> None:
    """Runs, reports what was measured, and brings the first tuple back unless what was reached is to stay.

    Args:
        target: The server.
        command: Which command asks, such as "climb".
        open_run: Makes the run, once nothing of an earlier command is left on the server.
        report: Prints and writes what was measured; called however the run ends.
        console: Where it is said what is in force at the end.
        keep: Whether what was reached stays.

    Raises:
        KeyboardInterrupt: The user ended it; everything above is done all the same.
        SettingError: A setting or a tuple is refused, or the report cannot be written.
        ServerError: The server is gone, or somebody else has set a tuple, which is left alone.
    """
    with restoring(target.way_back, command, console, keep=keep):
        run = open_run()
        try:
            run.run()
        finally:
            report(run)
    if run.interrupted:
        raise KeyboardInterrupt
