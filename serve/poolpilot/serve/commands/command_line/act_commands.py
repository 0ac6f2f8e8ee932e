"""Commands that change a server, or serve predictions."""

from pathlib import Path
from typing import Annotated

import typer

from poolpilot.serve.commands.command_line.given_flags import CommandLine
from poolpilot.serve.commands.command_line.shared_flags import (
    Backend,
    Config,
    Cpus,
    DefaultsFile,
    Dsn,
    Execute,
    Json,
    Log,
    MinRowsShare,
    Model,
    Outcomes,
    OwnServer,
    Port,
    Procedure,
    Seed,
    Set,
    Tracking,
    flag,
)
from poolpilot.serve.commands.command_line.uses import run

SERVICE = "A service that is asked"


def tune(
    dsn: Dsn = None,
    mode: Annotated[str | None, flag("--mode", "observe, advise (sets nothing; the default) or apply.", "NAME")] = None,
    seconds: Annotated[float | None, flag("--seconds", "How long; until it is ended if not given.", "X")] = None,
    window: Annotated[float | None, flag("--window", "Seconds of a window: 1, MariaDB 5.", "X")] = None,
    hours: Annotated[
        list[str] | None, flag("--hours", "When it may change anything: nights, 'weekdays 01:00-05:00'.", "TEXT")
    ] = None,
    approve: Annotated[bool | None, flag("--approve", "Wait for a person's approval of every step.")] = None,
    propose: Annotated[
        str | None, flag("--propose", "Try this instead of asking: size,oversubscribe,stall limit.", "N,N,N")
    ] = None,
    at_end: Annotated[str | None, flag("--at-end", "What stays: incumbent (the default) or initial.", "NAME")] = None,
    model: Model = None,
    log: Log = None,
    outcomes: Outcomes = None,
    page: Annotated[int | None, flag("--page", "Show decisions in a browser, on this port.", "N")] = None,
    watch: Annotated[bool | None, flag("--watch", "Show state, throughput and decisions on a screen.")] = None,
    defaults_file: DefaultsFile = None,
    procedure: Procedure = None,
    cpus: Cpus = None,
    min_rows_share: MinRowsShare = None,
    keeper: Annotated[
        bool | None, flag("--keeper", "Only roll back what a tuner of this host leaves behind, should it die.")
    ] = None,
    lease: Annotated[
        str | None, flag("--lease", "event: also keep a lease in the database, should this host vanish.", "NAME")
    ] = None,
    remote: Annotated[
        str | None, flag("--remote", "Ask this service and report to it: https://HOST:PORT.", "URL", SERVICE)
    ] = None,
    token_file: Annotated[
        Path | None, flag("--token-file", "Holds its bearer token; mode 0600.", "FILE", SERVICE)
    ] = None,
    backend: Backend = None,
    server: OwnServer = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Watch one server and keep its pool right: observe, advise (the default, which sets nothing) or apply.

    A step is at most a factor of two, is compared with what was in force window by window, and is rolled back when it
    is worse. The incumbent stays at the end; after a crash the next start or the keeper restores it.
    """
    run("tune", CommandLine.of(locals()))


def climb(
    dsn: Dsn = None,
    search: Annotated[bool | None, flag("--search", "Bayesian optimisation over several knobs instead.")] = None,
    sweep: Annotated[bool | None, flag("--sweep", "Race all configurations of the grid instead.")] = None,
    execute: Execute = None,
    keep: Annotated[bool | None, flag("--keep", "Leave what was reached, after Ctrl-C too.")] = None,
    seconds: Annotated[float | None, flag("--seconds", "Length of the climb: 60.", "X")] = None,
    period: Annotated[float | None, flag("--period", "Seconds of a window: 0.25, MariaDB 0.5.", "X")] = None,
    knob: Annotated[
        list[str] | None, flag("--knob", "A knob, or all; of a search also NAME=LOW..HIGH or NAME=1,2,4.", "NAME")
    ] = None,
    warm: Annotated[bool | None, flag("--warm", "Try what is predicted first.")] = None,
    model: Model = None,
    rounds: Annotated[int | None, flag("--rounds", "Configurations that a search tries: 30.", "N")] = None,
    defaults_file: DefaultsFile = None,
    procedure: Procedure = None,
    cpus: Cpus = None,
    min_rows_share: MinRowsShare = None,
    backend: Backend = None,
    server: OwnServer = None,
    family: Annotated[
        str | None, flag("--family", "Family of workloads: page_faults.", "NAME", "Without a DSN")
    ] = None,
    workload: Annotated[
        Path | None, flag("--workload", "A workload in JSON, instead.", "FILE", "Without a DSN")
    ] = None,
    seed: Seed = None,
    tracking: Tracking = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Climb to the best configuration of a MariaDB in staging, or of an embedded pool, and show every decision.

    With --search several knobs are searched, with --sweep the whole grid is measured, losers dropped early; clients do
    not report to a sweep, so it evaluates by the mean time in the system. The first configuration returns at the end
    and after Ctrl-C, unless --keep.
    """
    line = CommandLine.of(locals()).without("search", "sweep")
    if search and sweep:
        raise typer.BadParameter("--search and --sweep are two ways to look: name one")
    if sweep:
        run("climb --sweep", line.renamed("period", "window"))
    else:
        run("climb --search" if search else "climb", line)


def restore(
    dsn: Dsn = None,
    execute: Execute = None,
    forget: Annotated[
        bool | None, flag("--forget", "Leave what is in force, and take it for the beginning from now on.")
    ] = None,
    defaults_file: DefaultsFile = None,
    procedure: Procedure = None,
    config: Config = None,
    assignments: Set = None,
) -> None:
    """Restore what was in force before a climb that was killed on this host, or the incumbent of a killed tuner.

    What somebody else has set since then stays. Without --execute it says what it would do. The journals lie in
    ~/.local/state/poolpilot, or in the folder that POOLPILOT_JOURNALS names.
    """
    run("restore", CommandLine.of(locals()))


def serve(
    host: Annotated[str | None, flag("--host", "Address to listen on: 127.0.0.1.", "NAME")] = None,
    port: Port = None,
    model: Model = None,
    outcomes: Outcomes = None,
    token_file: Annotated[Path | None, flag("--token-file", "Bearer tokens; mode 0600.", "FILE", "Security")] = None,
    tls_certificate: Annotated[
        Path | None, flag("--tls-certificate", "Certificate of the service.", "FILE", "Security")
    ] = None,
    tls_key: Annotated[Path | None, flag("--tls-key", "Its key.", "FILE", "Security")] = None,
    tls_client_ca: Annotated[
        Path | None, flag("--tls-client-ca", "Who must have signed a client's certificate.", "FILE", "Security")
    ] = None,
    config: Config = None,
    assignments: Set = None,
) -> None:
    """Answer POST /v1/predict with the configuration to set; keep what POST /v1/outcomes reports.

    The model is the one for the kind of server that the windows come from (their server_kind); windows without a kind
    count as windows of the embedded pool. A file that a command has written with --json is a body as it stands. SIGHUP
    loads models, tokens and certificate again, and so does another model in the folder of --model.
    """
    run("serve", CommandLine.of(locals()))
