"""Flags that mean the same wherever they stand."""

from pathlib import Path
from typing import Annotated, Any

import typer


def flag(name: str, effect: str, metavar: str = "", panel: str | None = None) -> Any:
    """A flag that is None where nobody gives it, so that environment, file and model can say."""
    return typer.Option(name, help=effect, metavar=metavar, rich_help_panel=panel, show_default=False)


def place(effect: str, metavar: str) -> Any:
    """An argument that is given by its place, and None where it is not."""
    return typer.Argument(help=effect, metavar=metavar, show_default=False)


SETTINGS = "Settings and results"
SERVER = "The server"

Config = Annotated[Path | None, flag("--config", "TOML file of settings; flags win.", "FILE", SETTINGS)]
Set = Annotated[
    list[str] | None,
    flag("--set", "Any other setting (`poolpilot check --settings`); repeat it for more.", "NAME=VALUE", SETTINGS),
]
Json = Annotated[Path | None, flag("--json", "Write the result to this file as JSON.", "FILE", SETTINGS)]

Dsn = Annotated[
    str | None,
    place("The server: S=/run/mysqld/mysqld.sock, h=db1,P=3306,u=poolpilot, F=my.cnf or a host name.", "DSN"),
]
DefaultsFile = Annotated[
    Path | None, flag("--defaults-file", "The option file to read, not those of `mariadb`.", "FILE", SERVER)
]
Procedure = Annotated[
    str | None, flag("--procedure", "What sets a configuration, not SET GLOBAL (`grants`).", "NAME", SERVER)
]
Cpus = Annotated[
    int | None, flag("--cpus", "Processors of the server, where it runs elsewhere or in a container.", "N", SERVER)
]
MinRowsShare = Annotated[
    float | None, flag("--min-rows-share", "Share of the rows read a second that long statements keep.", "X", SERVER)
]
Execute = Annotated[bool | None, flag("--execute", "Do it; else a MariaDB server is left alone.")]
Model = Annotated[
    Path | None, flag("--model", "Folder that `learn` has left, or of a network; `network`: the shipped one.", "FOLDER")
]
Seconds = Annotated[float | None, flag("--seconds", "How long.", "X")]
Seed = Annotated[int | None, flag("--seed", "Seed of what is drawn.", "N")]
Tracking = Annotated[Path | None, flag("--tracking", "Folder of an MLflow store to log to.", "FOLDER", SETTINGS)]
Log = Annotated[Path | None, flag("--log", "Folder of decisions; beside the journals if not given.", "FOLDER")]
Outcomes = Annotated[Path | None, flag("--outcomes", "Folder of what became of changes.", "FOLDER")]
Backend = Annotated[
    str | None, flag("--backend", "native, simulated or curve: a pool to try things on.", "NAME", "Without a DSN")
]
OwnServer = Annotated[str | None, flag("--server", "A pool of your own, as module:factory.", "NAME", "Without a DSN")]
Folder = Annotated[Path | None, flag("--folder", "Folder of the test server.", "FOLDER")]
Port = Annotated[int | None, flag("--port", "Port; 0 is any that is free.", "N")]
