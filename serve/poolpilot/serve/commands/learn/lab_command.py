"""`poolpilot lab`: a private MariaDB to try things on, and named loads for it."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from poolpilot.env.lab import datasets
from poolpilot.env.lab.host.os_account import ROOT, UNPRIVILEGED
from poolpilot.env.lab.instance import Lab, LabSettings
from poolpilot.env.lab.load_watch import LoadWatch
from poolpilot.env.lab.sql_workload import SqlWorkload
from poolpilot.env.lab.sysbench_families import FAMILIES, draw_workload, named_workload
from poolpilot.env.lab.sysbench_load import SqlLoad
from poolpilot.env.mariadb.dsn import Dsn
from poolpilot.env.output import terminal, write_json
from poolpilot.env.servers.mariadb import MariadbServer
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.histogram import Histogram
from poolpilot.models.body import REQUEST, outcome_body

app = typer.Typer(no_args_is_help=True, help="A private MariaDB in a folder, with data sets and named loads.")

Folder = Annotated[Path, typer.Option(help="Folder of the test server.")]
DEFAULT_FOLDER = Path("lab/small")


@app.command("up")
def up(
    folder: Folder = DEFAULT_FOLDER,
    dataset: Annotated[
        str, typer.Option(help="small fits into memory, large does not, empty has no tables.")
    ] = "small",
    idle_timeout: Annotated[
        int,
        typer.Option(
            min=1, help="thread_pool_idle_timeout in seconds: short, so that little carries over; 60 is stock."
        ),
    ] = 1,
    slow_disk: Annotated[bool, typer.Option("--slow-disk", help="Put a disk of changeable latency under it.")] = False,
    port: Annotated[int | None, typer.Option(min=1, max=65_535, help="TCP port; a free one if not given.")] = None,
    extra_port: Annotated[
        int | None, typer.Option(min=1, max=65_535, help="Extra port; a free one if not given.")
    ] = None,
) -> None:
    """Install, start and fill a private MariaDB; where one runs already it is kept. It listens on loopback alone."""
    known = datasets.dataset(dataset)
    settings = LabSettings(
        dataset=known.name,
        idle_timeout_s=idle_timeout,
        slow_disk=slow_disk,
        port=port,
        extra_port=extra_port,
    )
    lab = Lab(folder, settings)
    running = lab.up(kept=True)
    console = terminal()
    console.print(
        f"MariaDB runs in {lab.folder} (process {running.pid}, port {running.port}, extra port {running.extra_port}): "
        f"{lab.dataset.description}.",
        soft_wrap=True,
    )
    console.print(account_in_words(running.account, lab.folder), soft_wrap=True)
    console.print(f"Its root: mariadb --defaults-file={lab.root_file}", soft_wrap=True)
    console.print(f"Next: poolpilot lab load --folder {folder} --workload joins_beside", soft_wrap=True)
    console.print(f"and, meanwhile: poolpilot advise F={lab.defaults_file}", soft_wrap=True)


@app.command("load")
def load(
    workload: Annotated[str, typer.Option(help="Name of a workload; `poolpilot lab workloads` lists them.")],
    folder: Folder = DEFAULT_FOLDER,
    seconds: Annotated[float, typer.Option(min=1.0, help="How long.")] = 60.0,
    json_path: Annotated[Path | None, typer.Option("--json", help="Write what was measured to this file.")] = None,
) -> None:
    """Send a named workload through sysbench and print a line a second; Ctrl-C ends it cleanly.

    What is written holds, under "request", what predict and simulate take: the window since the tuple last changed.
    """
    lab = Lab.of(folder)
    if lab.running() is None:
        raise ServerError(f"the MariaDB in {folder} does not run; start it: poolpilot lab up --folder {folder}")
    chosen = named_workload(workload)
    if chosen.dataset != lab.dataset.name:
        raise SettingError(
            f"workload {chosen.name} wants the data set {chosen.dataset!r}, {folder} holds {lab.dataset.name!r}"
        )
    console = terminal()
    # Connected before the load: that may leave no thread for a login.
    with (
        MariadbServer(Dsn(defaults_file=lab.defaults_file).account()) as server,
        SqlLoad(chosen, lab.load_file, lab.dataset) as running,
    ):
        server.clients = running
        watch, began_s = LoadWatch(server), time.monotonic()
        try:
            send(running, watch, seconds, console)
        finally:
            totals = {sender.of_class.name: sender.ledger.histogram() for sender in running.senders}
            elapsed_s = time.monotonic() - began_s
            console.print(totals_table(chosen, totals, elapsed_s))
            request = outcome_body(None, watch.window, server.knobs, chosen.objective)
            write_json(json_path, {REQUEST: request, **totals_as_dict(chosen, totals, elapsed_s)})


def send(running: SqlLoad, watch: LoadWatch, seconds: float, console: Console) -> None:
    """Lets a load run and prints a line a second.

    Raises:
        ServerError: The server or a sysbench is gone.
    """
    began_s = time.monotonic()
    before = dict(running.histograms())
    while (elapsed_s := time.monotonic() - began_s) < seconds:
        watch.server.run_for(min(1.0, seconds - elapsed_s))
        after = dict(running.histograms())
        watch.look()
        console.print(line_of(time.monotonic() - began_s, before, after), highlight=False, soft_wrap=True)
        before = after


@app.command("disk")
def disk(
    read_us: Annotated[int, typer.Option(min=0, help="Microseconds added to a read.")],
    write_us: Annotated[int, typer.Option(min=0, help="Microseconds added to a write.")],
    flush_us: Annotated[int, typer.Option(min=0, help="Microseconds added to a flush.")],
    folder: Folder = DEFAULT_FOLDER,
) -> None:
    """Change the latency of the slow disk under a test server, while it runs."""
    slow = Lab.of(folder).slow_disk
    if slow is None:
        raise SettingError(f"the test server in {folder} has no slow disk; start it with: poolpilot lab up --slow-disk")
    slow.set(read_us, write_us, flush_us)
    typer.echo(f"from now on a read takes {read_us} us more, a write {write_us} us, a flush {flush_us} us")


@app.command("down")
def down(
    folder: Folder = DEFAULT_FOLDER,
    remove: Annotated[bool, typer.Option("--remove", help="Delete its data too.")] = False,
) -> None:
    """Stop the MariaDB of a test server; the data stay unless they are to be removed."""
    lab = Lab.of(folder)
    stopped = lab.down()
    if remove:
        lab.remove()
    kept = "its data are removed" if remove else "its data stay"
    typer.echo(f"the MariaDB in {folder} {'is stopped' if stopped else 'did not run'}; {kept}")


@app.command("workloads")
def workloads(
    json_path: Annotated[Path | None, typer.Option("--json", help="Write the workloads to this file.")] = None,
) -> None:
    """List the families of workloads, with the classes and latency targets of the first workload of each."""
    table = Table("workload", "split", "what it is", "classes (connections, target)", title="Workloads")
    drawn = {name: draw_workload(family, 1, 0) for name, family in FAMILIES.items()}
    for name, family in FAMILIES.items():
        classes = ", ".join(_class_in_words(one.name, one.connections, one.target_ms) for one in drawn[name].classes)
        table.add_row(name, family.split, family.description, classes)
    terminal().print(table)
    write_json(json_path, {name: workload.as_dict() for name, workload in drawn.items()})


def account_in_words(account: str, folder: Path) -> str:
    """Whom a server runs as, and what to do where that is root."""
    if account != ROOT:
        return f"It runs as the account {account}."
    return (
        f"It runs as root: none of the accounts {', '.join(UNPRIVILEGED)} reaches {folder}. "
        "Name a folder whose parents others may pass, such as one below /var/tmp, or start it as a user."
    )


def line_of(elapsed_s: float, before: dict[str, Histogram], after: dict[str, Histogram]) -> str:
    """One second of a load, in the manner of sysbench."""
    parts = []
    for name, one in after.items():
        rise = one - before[name]
        parts.append(f"{name} {rise.count} req, lat (ms,95%) {rise.quantile(0.95) / 1e3:.2f}")
    return f"[ {elapsed_s:.0f}s ] " + " | ".join(parts)


def totals_table(workload: SqlWorkload, totals: dict[str, Histogram], elapsed_s: float) -> Table:
    """What a load has measured, as people read it."""
    table = Table("class", "connections", "requests/s", "p50 ms", "p95 ms", "p99 ms", "in time", title=workload.name)
    for row in totals_as_dict(workload, totals, elapsed_s)["classes"]:
        table.add_row(
            row["name"],
            str(row["connections"]),
            f"{row['per_s']:.1f}",
            *(f"{row[quantile]:.2f}" for quantile in ("p50_ms", "p95_ms", "p99_ms")),
            "-" if row["in_time"] is None else f"{100 * row['in_time']:.0f} %",
        )
    return table


def totals_as_dict(workload: SqlWorkload, totals: dict[str, Histogram], elapsed_s: float) -> dict[str, Any]:
    """What a load has measured, fit for JSON."""
    rows = []
    for one in workload.classes:
        seen = totals[one.name]
        in_time = None
        if one.target_ms is not None and seen.count:
            in_time = seen.count_below(1e3 * one.target_ms) / seen.count
        rows.append(
            {
                "name": one.name,
                "connections": one.connections,
                "per_s": seen.count / elapsed_s,
                "p50_ms": seen.quantile(0.5) / 1e3,
                "p95_ms": seen.quantile(0.95) / 1e3,
                "p99_ms": seen.quantile(0.99) / 1e3,
                "in_time": in_time,
            }
        )
    return {"classes": rows}


def _class_in_words(name: str, connections: int, target_ms: float | None) -> str:
    return f"{name} ({connections}, {'no target' if target_ms is None else f'{target_ms:g} ms'})"
