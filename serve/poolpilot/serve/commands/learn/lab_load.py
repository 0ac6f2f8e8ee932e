"""`poolpilot lab load`: a named load on a test server, and what its clients saw."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.console import Console
from rich.table import Table

from poolpilot.env.output import terminal, write_json
from poolpilot.errors import ServerError, SettingError
from poolpilot.featurizer.histogram import Histogram
from poolpilot.lab.capacity import at_capacity
from poolpilot.lab.instance import Lab
from poolpilot.lab.load_watch import LoadWatch
from poolpilot.lab.sql_workload import SqlWorkload
from poolpilot.lab.sysbench_families import named_workload
from poolpilot.lab.sysbench_load import SqlLoad
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.server.mariadb_server import MariadbServer
from poolpilot.models.body import REQUEST, outcome_body
from poolpilot.serve.commands.options.mariadb_options import LabOptions


class LabLoadSettings(LabOptions):
    """Settings of `poolpilot lab load`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_LAB_LOAD_")

    workload: str = Field(description="Name of a workload; `poolpilot lab workloads` lists them.")
    seconds: float = Field(default=60.0, ge=1.0, description="How long.")


def load(settings: LabLoadSettings, json_path: Path | None) -> None:
    """Loads a test server, and shows what its clients saw.

    Raises:
        KeyboardInterrupt: The user ended it; what was measured is shown all the same.
        SettingError: There is no such workload, it wants another data set, or the file cannot be written.
        ServerError: The test server does not run, or is gone.
    """
    lab = Lab.of(settings.folder)
    if lab.running() is None:
        folder = settings.folder
        raise ServerError(f"the MariaDB in {folder} does not run; start it: poolpilot lab up --folder {folder}")
    workload = named_workload(settings.workload)
    if workload.dataset != lab.dataset.name:
        raise SettingError(
            f"workload {workload.name} wants the data set {workload.dataset!r}, {settings.folder} holds "
            f"{lab.dataset.name!r}"
        )
    console = terminal()
    with disk_of(workload, lab):
        sent = at_capacity(workload, partial(loaded, lab))
        with loaded(lab, sent) as server:
            send_and_tell(sent, server, settings.seconds, console, json_path)


@contextmanager
def loaded(lab: Lab, workload: SqlWorkload) -> Iterator[MariadbServer]:
    """A test server that runs, under a workload.

    Raises:
        ServerError: The server is gone, or sysbench is missing.
        SettingError: A class offers a share of a capacity that was not measured.
    """
    # Connected before the load: that may leave no thread for a login.
    with (
        MariadbServer(Dsn(defaults_file=lab.defaults_file).account()) as server,
        SqlLoad(workload, lab.load_file, lab.dataset) as server.clients,
    ):
        yield server


def send_and_tell(
    workload: SqlWorkload, server: MariadbServer, seconds: float, console: Console, json_path: Path | None
) -> None:
    """Lets a load run, and tells what its clients saw, also of one that was ended.

    Raises:
        ServerError: The server or a sysbench is gone.
    """
    running = server.clients
    assert isinstance(running, SqlLoad)
    watch, began_s = LoadWatch(server), time.monotonic()
    try:
        send(running, watch, seconds, console)
    finally:
        totals = {sender.of_class.name: sender.ledger.histogram() for sender in running.senders}
        elapsed_s = time.monotonic() - began_s
        console.print(totals_table(workload, totals, elapsed_s))
        request = outcome_body(None, watch.window, server.knobs, workload.objective)
        write_json(json_path, {REQUEST: request, **totals_as_dict(workload, totals, elapsed_s)})


@contextmanager
def disk_of(workload: SqlWorkload, lab: Lab) -> Iterator[None]:
    """Delays the disk as a workload has it, for the duration of a block.

    Raises:
        SettingError: The server has no slow disk.
    """
    if workload.slow_disk_us is None:
        yield
        return
    if lab.slow_disk is None:
        raise SettingError(f"workload {workload.name} needs a slow disk; start one with: poolpilot lab up --slow-disk")
    lab.slow_disk.set(*workload.slow_disk_us)
    try:
        yield
    finally:
        lab.slow_disk.set(0, 0, 0)


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
        watch.observe()
        console.print(line_of(time.monotonic() - began_s, before, after), highlight=False, soft_wrap=True)
        before = after


def line_of(elapsed_s: float, before: Mapping[str, Histogram], after: Mapping[str, Histogram]) -> str:
    """One second of a load, in the manner of sysbench."""
    parts = []
    for name, histogram in after.items():
        rise = histogram - before[name]
        parts.append(f"{name} {rise.count} req, lat (ms,95%) {rise.quantile(0.95) / 1e3:.2f}")
    return f"[ {elapsed_s:.0f}s ] " + " | ".join(parts)


def totals_table(workload: SqlWorkload, totals: Mapping[str, Histogram], elapsed_s: float) -> Table:
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


def totals_as_dict(workload: SqlWorkload, totals: Mapping[str, Histogram], elapsed_s: float) -> dict[str, Any]:
    """What a load has measured, fit for JSON."""
    rows = []
    for of_class in workload.classes:
        seen = totals[of_class.name]
        in_time = None
        if of_class.target_ms is not None and seen.count:
            in_time = seen.count_below(1e3 * of_class.target_ms) / seen.count
        rows.append(
            {
                "name": of_class.name,
                "connections": of_class.connections,
                "per_s": seen.count / elapsed_s,
                "p50_ms": seen.quantile(0.5) / 1e3,
                "p95_ms": seen.quantile(0.95) / 1e3,
                "p99_ms": seen.quantile(0.99) / 1e3,
                "in_time": in_time,
            }
        )
    return {"classes": rows}
