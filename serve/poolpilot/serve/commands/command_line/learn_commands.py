"""Commands of staging: a test server, records, models, benchmarks."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from poolpilot.serve.commands.command_line.given_flags import CommandLine
from poolpilot.serve.commands.command_line.shared_flags import (
    Config,
    DefaultsFile,
    Execute,
    Folder,
    Json,
    Model,
    Outcomes,
    Port,
    Procedure,
    Seconds,
    Seed,
    Set,
    Tracking,
    flag,
)
from poolpilot.serve.commands.command_line.uses import run


class LearnStage(StrEnum):
    """A stage of learning that can be run by itself."""

    COLLECT = "collect"
    CURVES = "curves"
    CALIBRATE = "calibrate"
    TRAIN = "train"
    PROMOTE = "promote"


def learn(
    stage: Annotated[
        LearnStage | None, typer.Argument(help="One stage alone; all of them if not given.", show_default=False)
    ] = None,
    minutes: Annotated[float | None, flag("--minutes", "Minutes to learn for: 30.", "X")] = None,
    out: Annotated[
        Path | None, flag("--out", "Folder of what is learned; a stopped run goes on in it.", "FOLDER")
    ] = None,
    output: Annotated[Path | None, flag("--output", "Where a stage puts what it makes.", "PATH")] = None,
    store: Annotated[Path | None, flag("--store", "Folder of the records.", "FOLDER")] = None,
    server: Annotated[str | None, flag("--server", "Of a stage: native, simulated or mariadb.", "NAME")] = None,
    candidate: Annotated[Path | None, flag("--candidate", "Of promote: the model to judge.", "FOLDER")] = None,
    cpus: Annotated[int | None, flag("--cpus", "Processors of the server that is to be tuned.", "N")] = None,
    seed: Seed = None,
    anew: Annotated[bool | None, flag("--anew", "Begin a new run where one was stopped.")] = None,
    promote: Annotated[
        bool | None, flag("--promote/--no-promote", "Put in force what passes the gate (the default).")
    ] = None,
    dry_run: Annotated[bool | None, flag("--dry-run", "Of promote: judge, and put nothing in force.")] = None,
    outcomes: Outcomes = None,
    dsn: Annotated[str | None, flag("--dsn", "A MariaDB of your own in staging, swept under its load.", "DSN")] = None,
    execute: Execute = None,
    defaults_file: DefaultsFile = None,
    procedure: Procedure = None,
    tracking: Tracking = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Learn the machine at hand, and leave one folder to copy to production.

    It checks the machine, calibrates the simulator to it, collects, makes response curves, and judges them on
    workloads they have not seen. A MariaDB of your own in staging (--dsn) is swept too, with --execute; what was in
    force there returns. What loses more than what is in force is refused. Ctrl-C stops; the same command goes on.

    Stages: collect (workloads into records), curves (simulated responses), calibrate (the simulator's machine), train
    (a network, logged to MLflow), promote (a trained model, if it passes the gate).

    Exit status: 0 done, 1 an error, or your server does not have its first configuration back, 3 refused by the gate,
    130 stopped.
    """
    run("learn" if stage is None else f"learn {stage}", CommandLine.of(locals()).without("stage"))


def records(
    folders: Annotated[list[Path], typer.Argument(help="Folders of record stores.", metavar="FOLDER")],
    check: Annotated[bool | None, flag("--check", "Name all that makes them unfit to learn from.")] = None,
    sql: Annotated[str | None, flag("--sql", "Ask them this SELECT over records, workloads, features.", "TEXT")] = None,
    limit: Annotated[int | None, flag("--limit", "Rows of an answer that are shown: 50.", "N")] = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Show what is in record stores, family by family; changes nothing.

    'again' is how far windows of the default differ from one another within a workload, 'error' the median standard
    error of the value of a configuration with more than one window; a dash where none was measured twice.

    With --check: damaged segments, contradicting schemas, duplicates, sweeps without a default, families that are both
    learned from and evaluated on, two timers; exit status 3 where training would refuse them. With --sql one SELECT of
    DuckDB's over the views records, workloads, features and outcomes; `DESCRIBE features` names the columns of a view.
    """
    line = CommandLine.of(locals()).without("check", "sql")
    if check and sql:
        raise typer.BadParameter("--check and --sql are two questions: name one")
    if sql:
        if len(folders) != 1:
            raise typer.BadParameter("--sql asks one store: name one folder")
        asked = {**line.without("folders").flags, "folder": folders[0], "query": sql}
        run("records --sql", line._replace(flags=asked))
    else:
        run("records --check" if check else "records", line)


def evaluate(
    workloads: Annotated[
        Path | None, flag("--workloads", "Evaluate live on the workload files of this folder.", "FOLDER")
    ] = None,
    store: Annotated[Path | None, flag("--store", "Folder of the records.", "FOLDER")] = None,
    split: Annotated[str | None, flag("--split", "validation or test.", "NAME")] = None,
    model: Model = None,
    tracking: Tracking = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Compare a model with its baselines on workloads it has never seen.

    With --workloads FOLDER every method runs live on workload files that you wrote: the embedded pool, a simulated
    machine or a test server of MariaDB, as each file says.
    """
    run("evaluate", CommandLine.of(locals()))


def bench(
    name: Annotated[str | None, typer.Argument(help="An experiment; none lists them.", show_default=False)] = None,
    quick: Annotated[bool | None, flag("--quick", "The first runs alone, in small.")] = None,
) -> None:
    """Run an experiment of a clone, and write its report and the tables of its pages."""
    from poolpilot.serve.commands.learn.bench_command import bench as run_experiment

    run_experiment(name, quick=bool(quick))


lab = typer.Typer(no_args_is_help=True, help="A private MariaDB in a folder, with data sets and named loads.")


@lab.command("up")
def lab_up(
    folder: Folder = None,
    dataset: Annotated[
        str | None, flag("--dataset", "small fits into memory, large does not, empty has no tables.", "NAME")
    ] = None,
    slow_disk: Annotated[bool | None, flag("--slow-disk", "Put a disk of changeable latency under it.")] = None,
    port: Port = None,
    config: Config = None,
    assignments: Set = None,
) -> None:
    """Install, start and fill a private MariaDB; where one runs already it is kept. It listens on loopback alone."""
    run("lab up", CommandLine.of(locals()))


@lab.command("load")
def lab_load(
    workload: Annotated[
        str | None, flag("--workload", "Name of a workload; `lab workloads` lists them.", "NAME")
    ] = None,
    folder: Folder = None,
    seconds: Seconds = None,
    config: Config = None,
    assignments: Set = None,
    json_path: Json = None,
) -> None:
    """Send a named workload through sysbench and print a line a second; Ctrl-C ends it cleanly.

    What is written holds, under "request", what `advise --windows` and `--simulate` take.
    """
    run("lab load", CommandLine.of(locals()))


@lab.command("disk")
def lab_disk(
    read_us: Annotated[int, flag("--read-us", "Microseconds added to a read.", "N")],
    write_us: Annotated[int, flag("--write-us", "Microseconds added to a write.", "N")],
    flush_us: Annotated[int, flag("--flush-us", "Microseconds added to a flush.", "N")],
    folder: Folder = None,
) -> None:
    """Change the latency of the slow disk under a test server, while it runs."""
    run("lab disk", CommandLine.of(locals()))


@lab.command("down")
def lab_down(
    folder: Folder = None, remove: Annotated[bool | None, flag("--remove", "Delete its data too.")] = None
) -> None:
    """Stop the MariaDB of a test server; the data stay unless they are to be removed."""
    run("lab down", CommandLine.of(locals()))


@lab.command("workloads")
def lab_workloads(json_path: Json = None) -> None:
    """List the families of workloads, with the classes and latency targets of the first workload of each."""
    from poolpilot.serve.commands.learn.lab_command import workloads

    workloads(json_path)
