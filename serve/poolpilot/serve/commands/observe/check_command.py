"""`poolpilot check`: whether a server can be tuned and serves, what is stuck, who holds what, what frees it."""

from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.console import Console
from rich.table import Table

from poolpilot.env.output import introduce, terminal, write_json
from poolpilot.errors import LostServerError, NoConnectionLeftError
from poolpilot.mariadb.diagnosis.facts import read_facts
from poolpilot.mariadb.diagnosis.finding import Diagnosis
from poolpilot.mariadb.diagnosis.judgement.connection_findings import no_connection_left
from poolpilot.mariadb.diagnosis.judgement.diagnose import MOST_REPLICA_LAG_S, no_login
from poolpilot.mariadb.diagnosis.judgement.diagnose import diagnose as diagnosis_of
from poolpilot.mariadb.restoration.mariadb_target import connect
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.serve.commands.observe.pool_variables import variable_rows, variables_table
from poolpilot.serve.commands.observe.visibility import visibility_rows, visibility_table
from poolpilot.serve.commands.options.mariadb_options import Cpus, MariadbOptions


class CheckSettings(MariadbOptions):
    """Settings of `poolpilot check`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_CHECK_")

    cpus: Cpus = None
    seconds: float = Field(
        default=2.0, ge=1.0, le=60.0, description="Seconds from the first observation to the second: 1..60."
    )
    replica_lag: float = Field(
        default=MOST_REPLICA_LAG_S, ge=0.0, le=86_400.0, description="Seconds that a replica may be behind."
    )


def check_server(settings: CheckSettings, json_path: Path | None) -> None:
    """Shows a server's variables, what it shows to the account, and what is wrong with its pool.

    Raises:
        SettingError: The DSN, the defaults file or the file to write is wrong.
        ServerError: The server cannot be reached, has no pool, or is lost while it is observed.
    """
    console = terminal()
    found, diagnosis = found_of(settings, console)
    if "variables" in found:
        console.print(variables_table(found["where"], found["variables"]), visibility_table(found["shows"]))
    show(diagnosis, console)
    write_json(json_path, {**found, **diagnosis.as_dict()})


def found_of(settings: CheckSettings, console: Console) -> tuple[dict[str, Any], Diagnosis]:
    """What the server is and has, fit for JSON, and what was found; a login that is refused is a finding too.

    Raises:
        SettingError: The DSN or the defaults file is wrong.
        ServerError: The server cannot be reached, has no pool, or is lost while it is observed.
    """
    try:
        server = connect(settings.dsn, settings.defaults_file, None, settings.cpus)
    except LostServerError as error:
        return {"where": settings.dsn}, no_login(settings.dsn, str(error))
    except NoConnectionLeftError as error:
        return {"where": settings.dsn}, no_connection_left(settings.dsn, str(error))
    with server:
        introduce(server.reached, server.warnings if server.process else server.control.warnings, console)
        snapshot = server.snapshot()
        found = {
            "where": server.session.where,
            "reached": server.reached.as_dict(),
            "variables": variable_rows(server),
            "shows": visibility_rows(snapshot),
        }
        return found, observe_twice(server, settings, console)


def observe_twice(server: MariadbServer, settings: CheckSettings, console: Console) -> Diagnosis:
    """Observes a server twice and says what is wrong with it.

    Raises:
        LostServerError: It is gone.
    """
    console.print(
        f"Observing {server.session.where} twice, {settings.seconds:g} s apart; nothing is changed.", soft_wrap=True
    )
    facts = read_facts(server.session, server.process, server.cpus, settings.seconds)
    return diagnosis_of(facts, settings.replica_lag)


def show(diagnosis: Diagnosis, console: Console) -> None:
    """Prints the findings as a table, and below it what frees each, to be copied."""
    console.print(findings_table(diagnosis))
    for finding in diagnosis.findings:
        if finding.remedies:
            heading = f"To free it ({finding.kind}); nothing of this is done here:"
            console.print(heading, *finding.remedies, sep="\n", highlight=False, soft_wrap=True)
    if diagnosis.hidden:
        console.print("Not seen:", *diagnosis.hidden, sep="\n", highlight=False, soft_wrap=True)


def findings_table(diagnosis: Diagnosis) -> Table:
    """The findings as people read them, the worst first."""
    table = Table(title="Diagnosis", show_header=False, title_justify="left")
    for finding in diagnosis.findings:
        table.add_row(finding.severity.name.lower(), finding.sentence)
        for evidence in finding.evidence:
            table.add_row("", evidence)
    return table
