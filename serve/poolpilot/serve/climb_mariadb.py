"""A climb's target on MariaDB, and what a dry run says."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from poolpilot.agent.warm_start import MARIADB_WARM_START
from poolpilot.env.objective import Objective
from poolpilot.serve.climb_knobs import ranges_text
from poolpilot.serve.climb_target import ClimbTarget
from poolpilot.serve.mariadb_server import connect, warn


@contextmanager
def mariadb_target(
    dsn: str, defaults_file: Path | None, procedure: str | None, console: Console
) -> Iterator[ClimbTarget]:
    """Connects for the duration of the block and prints what to know; clients do not report, so times are judged.

    Raises:
        SettingError: The DSN or the defaults file is wrong.
        ServerError: The server cannot be reached, or cannot be tuned.
    """
    with connect(dsn, defaults_file, procedure) as server:
        warn(server, console)
        where = server.session.where
        yield ClimbTarget(
            server,
            where,
            Objective(signal="time_in_system"),
            {"backend": "mariadb", "server": where},
            "requests/s in system",
            MARIADB_WARM_START,
        )


def dry_run(target: ClimbTarget, knobs: tuple[str, ...], seconds: float) -> str:
    """What a climb would do.

    Raises:
        SettingError: A knob cannot be climbed on this server, or not from the value in force.
    """
    return (
        f"Would climb for {seconds:g} s over {ranges_text(knobs, target.server)} from "
        f"{target.server.tuple_in_force()}, and restore it at the end unless --keep; add --execute to do it. "
        "For staging: a climb makes waves."
    )
