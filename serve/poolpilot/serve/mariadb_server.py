"""How the commands reach a MariaDB server: a DSN, a defaults file, and the way tuples get in."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from poolpilot.env.backends.mariadb import MariadbServer
from poolpilot.env.mariadb.actuator import Actuator, CallProcedure, SetGlobal
from poolpilot.env.mariadb.dsn import Dsn

DSN_HELP = (
    "Where the server is: S=/run/mysqld/mysqld.sock, h=db1,P=3306,u=poolpilot, or a host name. "
    "E= names the extra port, F= a defaults file. Passwords come from the defaults file alone."
)

DsnArgument = Annotated[str, typer.Argument(metavar="DSN", help=DSN_HELP, show_default=False)]
OptionalDsn = Annotated[str | None, typer.Argument(metavar="DSN", help=DSN_HELP, show_default=False)]
DefaultsFile = Annotated[
    Path | None, typer.Option(help="File to read \\[client] from; ~/.my.cnf if not given.", show_default=False)
]
Procedure = Annotated[
    str | None,
    typer.Option(help="Set by calling this procedure (`poolpilot mariadb grants`) instead of SET GLOBAL."),
]


def connect(dsn: str, defaults_file: Path | None, procedure: str | None = None) -> MariadbServer:
    """Connects to the server of a DSN.

    Raises:
        SettingError: The DSN or the defaults file is wrong.
        ServerError: The server cannot be reached, or cannot be tuned.
    """
    parts = Dsn.parse(dsn)
    if defaults_file is not None:
        parts = replace(parts, defaults_file=defaults_file)
    actuator: Actuator = CallProcedure(procedure) if procedure else SetGlobal()
    return MariadbServer(parts.account(), actuator)


def warn(server: MariadbServer, console: Console) -> None:
    """Prints what to know before anything is set."""
    for warning in server.warnings:
        console.print(f"[bold]Warning:[/bold] {warning}", soft_wrap=True)
