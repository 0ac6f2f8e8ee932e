"""Commands that change and teach nothing."""

from pathlib import Path
from typing import Annotated

import typer

from poolpilot.serve.commands.command_line.given_flags import CommandLine
from poolpilot.serve.commands.command_line.shared_flags import (
    Config,
    Cpus,
    DefaultsFile,
    Dsn,
    Json,
    Log,
    MinRowsShare,
    Model,
    Port,
    Procedure,
    Seconds,
    Seed,
    Set,
    flag,
    place,
)
from poolpilot.serve.commands.command_line.uses import found_at, run


def demo(
    mariadb: Annotated[bool | None, flag("--mariadb", "On a private MariaDB under sysbench.")] = None,
    production: Annotated[
        bool | None, flag("--production", "A tuner in production: a load that shifts, a bad prediction, a kill.")
    ] = None,
    seed: Seed = None,
    seconds: Seconds = None,
    quick: Annotated[bool | None, flag("--quick", "With --production: a minute, no figures to quote.")] = None,
    output: Annotated[Path | None, flag("--output", "Folder for report and pictures.", "FOLDER")] = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Show the main job on workloads the model was not trained on.

    It sets a configuration within the first seconds, and compares it with the default, the best static configuration,
    a cold climb and the best measured. With --production it ends with 0 only if the bad prediction was rolled back
    within two windows and the keeper gave the killed tuner's configuration back.
    """
    line = CommandLine.of(locals()).without("mariadb", "production")
    if mariadb and production:
        raise typer.BadParameter("--mariadb and --production are two demonstrations: name one")
    run("demo --production" if production else "demo --mariadb" if mariadb else "demo", line)


def advise(
    dsn: Dsn = None,
    windows: Annotated[
        Path | None, flag("--windows", "No server: advise on the windows that a command has written.", "FILE")
    ] = None,
    simulate: Annotated[
        Path | None, flag("--simulate", "No server: what if, for the last window of such a file.", "FILE")
    ] = None,
    seconds: Seconds = None,
    grid: Annotated[bool | None, flag("--grid", "With --simulate: the whole grid.")] = None,
    png: Annotated[Path | None, flag("--png", "With --grid: draw it as heat maps.", "FILE")] = None,
    model: Model = None,
    defaults_file: DefaultsFile = None,
    cpus: Cpus = None,
    min_rows_share: MinRowsShare = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Observe a MariaDB server for a few seconds and say which configuration would suit it; changes nothing.

    With --windows the windows of a file are advised on: the body of POST /v1/predict, or what advise, climb or
    lab load wrote. With --simulate the workload of such a file is simulated under other configurations.
    """
    line = CommandLine.of(locals())
    named = [name for name in ("dsn", "windows", "simulate") if name in line.flags]
    if len(named) != 1:
        raise typer.BadParameter("name one thing to advise on: a DSN, --windows FILE or --simulate FILE")
    if windows is not None:
        run("advise --windows", line)
    elif simulate is not None:
        run("advise --simulate", line.renamed("simulate", "profile"))
    else:
        run("advise", line)


def check(
    dsn: Dsn = None,
    settings: Annotated[
        str | None, flag("--settings", "Explain the settings of this command; of tune and serve try them.", "COMMAND")
    ] = None,
    seconds: Annotated[float | None, flag("--seconds", "Seconds between two observations: 2.", "X")] = None,
    defaults: Annotated[bool | None, flag("--defaults", "With --settings: those that nobody named, too.")] = None,
    defaults_file: DefaultsFile = None,
    cpus: Cpus = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Say whether a server can be tuned and whether its pool serves; changes nothing.

    Shown are the pool's variables, what the account sees, what sessions wait for, and who holds a lock that others
    wait for, with what frees it. With --settings COMMAND every setting of that command is explained: its value, where
    the value is from, what is allowed. For `tune` (with a DSN, or that of --config) and `serve` what the settings need
    is tried too.

    It ends with 0, with 1 where settings are wrong or the server cannot be reached, and with 3 where account, server
    or host lack what the settings ask for.
    """
    line = CommandLine.of(locals()).without("settings")
    if settings is not None:
        explain = found_at("config.config_command:check_settings")
        explain(settings, line.without("defaults"), all_of_them=bool(defaults))
        return
    if dsn is None:
        raise typer.BadParameter("name what to check: a DSN, or --settings COMMAND")
    run("check", line)


def grants(
    tuner: Annotated[str | None, flag("--tuner", "Account that PoolPilot logs in as: poolpilot@localhost.")] = None,
    owner: Annotated[str | None, flag("--owner", "Locked account that owns the privilege.")] = None,
    procedure: Procedure = None,
    plain: Annotated[
        bool | None, flag("--plain", "Give CONNECTION ADMIN itself, which is far more, instead of the procedure.")
    ] = None,
    lease: Annotated[bool | None, flag("--lease", "Also let it keep a lease (`tune --lease event`).")] = None,
    require_tls: Annotated[bool | None, flag("--require-tls", "Let the account in over TLS alone.")] = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Print the SQL that lets an account observe, and set by a procedure that checks ranges; it is never run."""
    run("grants", CommandLine.of(locals()))


def why(
    log: Annotated[Path | None, place("Folder of the decisions; the newest of this host.", "LOG")] = None,
    last: Annotated[int | None, flag("--last", "How many decisions: 20.", "N")] = None,
    report: Annotated[bool | None, flag("--report", "Also add up what tuning did cost and bring.")] = None,
    replay: Annotated[bool | None, flag("--replay", "Also make each decision again of what it was made by.")] = None,
    shadow: Annotated[bool | None, flag("--shadow", "Also compare the challenger with what acts.")] = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Say what a tuner decided lately and why, above all why it did nothing.

    LOG is the folder of its decisions; the newest one of this host if not given.
    """
    run("why", CommandLine.of(locals()))


def page(
    folder: Annotated[Path | None, place("Folder of the logs; that of this user's tuners.", "FOLDER")] = None,
    port: Port = None,
    config: Config = None,
    assignments: Set = None,
) -> None:
    """Show in a browser on this host what tuners decide and have decided, and give it to Prometheus.

    FOLDER holds the logs, itself or one level below; where tuners of this user keep them if not given.
    """
    run("page", CommandLine.of(locals()))


def bundle(
    write: Annotated[bool | None, flag("--write", "Write it.")] = None,
    dsn: Annotated[str | None, flag("--dsn", "A MariaDB server to observe for two seconds.", "DSN")] = None,
    defaults_file: DefaultsFile = None,
    settings: Annotated[list[Path] | None, flag("--settings", "A settings file to take along.", "FILE")] = None,
    log: Log = None,
    last: Annotated[int | None, flag("--last", "Decisions for a server: 200.", "N")] = None,
    out: Annotated[Path | None, flag("--out", "File to write; there must be none yet.", "FILE")] = None,
    show: Annotated[str | None, flag("--show", "Print one of its files instead.", "NAME")] = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Collect what a report of a fault needs, without passwords, tokens and keys.

    It holds versions, machine, settings, last decisions, journals, digests of models and, with a DSN, a diagnosis.
    Without --write it shows what it would hold and writes nothing.
    """
    run("bundle", CommandLine.of(locals()))
