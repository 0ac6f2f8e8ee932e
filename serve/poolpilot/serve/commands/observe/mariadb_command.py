"""`poolpilot mariadb`: what a server has, and the statements that give a tuner its rights."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.box import SIMPLE_HEAD
from rich.table import Table

from poolpilot.env.output import introduce, terminal, write_json
from poolpilot.env.program_settings import ProgramSettings
from poolpilot.mariadb.actuator import PROCEDURE
from poolpilot.mariadb.grants import grants as grant_statements
from poolpilot.mariadb.restoration.mariadb_target import connect
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.serve.commands.observe.visibility import visibility_rows, visibility_table
from poolpilot.serve.commands.options.mariadb_options import Cpus, MariadbOptions, ProcedureName
from poolpilot.serve.commands.options.settings_command import as_command

GRANTS_HELP = (
    "Print the SQL that lets an account observe, and set by a procedure that checks ranges. It is printed, never run."
)
CHECK_HELP = "Show whether a server can be tuned: its pool's variables, their ranges, and what needs a restart."

UNBOUNDED = 2**32 - 1
"""A greatest value from which on there is none to speak of."""


class GrantsSettings(ProgramSettings):
    """Settings of `poolpilot mariadb grants`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_GRANTS_")

    tuner: str = Field(
        default="poolpilot@localhost", description="Account that PoolPilot logs in as, such as poolpilot@10.%."
    )
    owner: str = Field(default="poolpilot_owner@localhost", description="Locked account that owns the privilege.")
    procedure: ProcedureName = Field(default=PROCEDURE, description="Schema and name of the procedure.")
    plain: bool = Field(
        default=False,
        description="Give the tuner CONNECTION ADMIN itself, which is far more, instead of the procedure.",
        json_schema_extra={"flag": "--plain"},
    )
    lease: bool = Field(
        default=False,
        description="Also let it keep a lease in the database (`poolpilot tune --lease event`).",
        json_schema_extra={"flag": "--lease"},
    )
    require_tls: bool = Field(
        default=False, description="Let the account in over TLS alone.", json_schema_extra={"flag": "--require-tls"}
    )
    least_size: int = Field(default=1, ge=1, description="Least pool size that the procedure takes.")
    most_size: int = Field(default=128, ge=1, le=100_000, description="Greatest pool size that it takes.")
    most_oversubscribe: int = Field(default=64, ge=1, le=1000, description="Greatest oversubscribe.")


class CheckSettings(MariadbOptions):
    """Settings of `poolpilot mariadb check`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_CHECK_")

    cpus: Cpus = None


def build_grants() -> Callable[..., None]:
    """The command `poolpilot mariadb grants`."""
    panels = {"Ranges of the procedure": ("least_size", "most_size", "most_oversubscribe")}
    return as_command(GrantsSettings, grants, GRANTS_HELP, panels=panels)


def build_check() -> Callable[..., None]:
    """The command `poolpilot mariadb check`."""
    return as_command(CheckSettings, check, CHECK_HELP, argument="dsn")


def grants(settings: GrantsSettings, json_path: Path | None) -> None:
    """Prints the statements.

    Raises:
        SettingError: A name is no account or procedure, or a range is empty.
    """
    statements = grant_statements(
        tuner=settings.tuner,
        owner=settings.owner,
        procedure=settings.procedure,
        plain=settings.plain,
        lease=settings.lease,
        require_tls=settings.require_tls,
        sizes=(settings.least_size, settings.most_size),
        most_oversubscribe=settings.most_oversubscribe,
    )
    typer.echo("\n".join(statements.values()), nl=False)
    write_json(json_path, dict(statements))


def check(settings: CheckSettings, json_path: Path | None) -> None:
    """Shows the variables of a server, and what of its doings it shows to the account.

    Raises:
        SettingError: The DSN or the defaults file is wrong.
        ServerError: The server cannot be reached, or cannot be tuned.
    """
    console = terminal()
    with connect(settings.dsn, settings.defaults_file, None, settings.cpus) as server:
        introduce(server.reached, server.warnings, console)
        snapshot = server.snapshot()
        console.print(variables_table(server), visibility_table(snapshot))
        write_json(
            json_path, {"reached": server.reached.as_dict(), **as_dict(server), "shows": visibility_rows(snapshot)}
        )


def variables_table(server: MariadbServer) -> Table:
    """The variables as people read them."""
    title = f"Thread pool of {server.session.where}"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, show_edge=False, collapse_padding=True)
    for heading in ("variable", "value", "range"):
        table.add_column(heading, no_wrap=True)
    table.add_column("set")
    table.add_column("from")
    for row in as_dict(server)["variables"]:
        table.add_row(row["name"], row["value"], _range(row["low"], row["high"]), row["set"], in_words(row["origin"]))
    return table


def in_words(origin: str) -> str:
    """Where a value came from, in lower case: "compile time", "command line", "config", "sql" or "auto"."""
    return origin.lower().replace("-", " ")


def _range(low: int | None, high: int | None) -> str:
    """A range as text; a high end that only the size of an integer sets is none."""
    if low is None or high is None:
        return ""
    return f"from {low}" if high >= UNBOUNDED else f"{low}..{high}"


def as_dict(server: MariadbServer) -> dict[str, Any]:
    """The variables fit for JSON; the ranges of the knobs are those that the running server takes."""
    knobs = {f"thread_pool_{name}": knob for name, knob in server.knobs.knobs.items()}
    ranges = {
        "thread_pool_size": knobs["thread_pool_pool_size"],
        "thread_pool_oversubscribe": knobs["thread_pool_oversubscribe"],
        "thread_pool_stall_limit": knobs["thread_pool_timer_interval_ms"],
        "thread_pool_idle_timeout": knobs["thread_pool_idle_timeout_s"],
    }
    rows: list[dict[str, Any]] = []
    for name, one in sorted(server.variables.items()):
        knob = ranges.get(name)
        how = "restart only" if one.restart_only else "per session" if one.per_session else "live"
        rows.append(
            {
                "name": name,
                "value": one.value,
                "low": one.low if knob is None else int(knob.low),
                "high": one.high if knob is None else int(knob.high),
                "set": how,
                "knob": knob is not None,
                "origin": one.origin,
            }
        )
    return {"variables": rows}
