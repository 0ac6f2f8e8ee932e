"""`poolpilot mariadb`: what a server has, and the statements that give a tuner its rights."""

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from poolpilot.env.mariadb.actuator import PROCEDURE
from poolpilot.env.mariadb.grants import grants as grant_statements
from poolpilot.env.output import terminal, warn, write_json
from poolpilot.env.servers.mariadb import MariadbServer
from poolpilot.env.tuning.mariadb_target import connect
from poolpilot.serve.commands.options.mariadb_options import DefaultsFile, DsnArgument

app = typer.Typer(no_args_is_help=True, help="Look at a MariaDB server's pool, and print the grants for a tuner.")


@app.command("grants")
def grants(
    tuner: Annotated[str, typer.Option(help="Account that PoolPilot logs in as.")] = "poolpilot@localhost",
    owner: Annotated[str, typer.Option(help="Locked account that owns the privilege.")] = "poolpilot_owner@localhost",
    procedure: Annotated[str, typer.Option(help="Schema and name of the procedure.")] = PROCEDURE,
    plain: Annotated[
        bool,
        typer.Option(
            "--plain", help="Give the tuner CONNECTION ADMIN itself, which is far more, instead of the procedure."
        ),
    ] = False,
    least_size: Annotated[int, typer.Option(min=1, help="Least pool size that the procedure takes.")] = 1,
    most_size: Annotated[int, typer.Option(min=1, max=100_000, help="Greatest pool size that it takes.")] = 128,
    most_oversubscribe: Annotated[int, typer.Option(min=1, max=1000, help="Greatest oversubscribe.")] = 64,
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the statements to this file.")] = None,
) -> None:
    """Print the SQL that lets an account look, and set by a procedure that checks ranges. It is printed, never run."""
    statements = grant_statements(
        tuner=tuner,
        owner=owner,
        procedure=procedure,
        plain=plain,
        sizes=(least_size, most_size),
        most_oversubscribe=most_oversubscribe,
    )
    typer.echo("\n".join(statements.values()), nl=False)
    write_json(json_path, dict(statements))


@app.command("check")
def check(
    dsn: DsnArgument,
    defaults_file: DefaultsFile = None,
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the variables to this file.")] = None,
) -> None:
    """Show whether a server can be tuned: its pool's variables, their ranges, and what needs a restart."""
    console = terminal()
    with connect(dsn, defaults_file) as server:
        warn(server.warnings, console)
        console.print(variables_table(server))
        write_json(json_path, as_dict(server))


def variables_table(server: MariadbServer) -> Table:
    """The variables as people read them."""
    table = Table("variable", "value", "range", "set", "from", title=f"Thread pool of {server.session.where}")
    for one in as_dict(server)["variables"]:
        shown = "" if one["low"] is None else f"{one['low']}..{one['high']}"
        table.add_row(one["name"], one["value"], shown, one["set"], one["origin"])
    return table


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
