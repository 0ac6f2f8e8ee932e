"""How the commands are told of a MariaDB server: a DSN, a defaults file, and the way tuples get in."""

from pathlib import Path
from typing import Annotated

import typer

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
