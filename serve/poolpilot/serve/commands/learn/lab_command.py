"""`poolpilot lab`: a private MariaDB to try things on, and named loads for it."""

from pathlib import Path

import typer
from pydantic import Field
from pydantic_settings import SettingsConfigDict
from rich.table import Table

from poolpilot.env.output import terminal, write_json
from poolpilot.errors import SettingError
from poolpilot.lab import datasets
from poolpilot.lab.host.lab_lock import locked_lab
from poolpilot.lab.host.os_account import ROOT, UNPRIVILEGED
from poolpilot.lab.instance import Lab, LabSettings
from poolpilot.lab.sysbench_families import FAMILIES, draw_workload
from poolpilot.serve.commands.options.mariadb_options import LabOptions

DISK_HELP = "Change the latency of the slow disk under a test server, while it runs."
WORKLOADS_HELP = "List the families of workloads, with the classes and latency targets of the first workload of each."

HIGHEST_PORT = 65_535


class UpSettings(LabOptions):
    """Settings of `poolpilot lab up`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_LAB_UP_")

    dataset: str = Field(default="small", description="small fits into memory, large does not, empty has no tables.")
    idle_timeout: int = Field(
        default=1,
        ge=1,
        description="thread_pool_idle_timeout in seconds: short, so that little carries over; 60 is stock.",
    )
    slow_disk: bool = Field(
        default=False,
        description="Put a disk of changeable latency under it.",
    )
    port: int | None = Field(default=None, ge=1, le=HIGHEST_PORT, description="TCP port; a free one if not given.")
    extra_port: int | None = Field(
        default=None, ge=1, le=HIGHEST_PORT, description="Extra port; a free one if not given."
    )


class DiskSettings(LabOptions):
    """Settings of `poolpilot lab disk`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_LAB_DISK_")

    read_us: int = Field(ge=0, description="Microseconds added to a read.")
    write_us: int = Field(ge=0, description="Microseconds added to a write.")
    flush_us: int = Field(ge=0, description="Microseconds added to a flush.")


class DownSettings(LabOptions):
    """Settings of `poolpilot lab down`."""

    model_config = SettingsConfigDict(env_prefix="POOLPILOT_LAB_DOWN_")

    remove: bool = Field(default=False, description="Delete its data too.")


def up(settings: UpSettings, _: Path | None = None) -> None:
    """Starts a test server and says how to reach it.

    Raises:
        SettingError: There is no such data set, or the folder holds another one.
        ServerError: MariaDB or sysbench is missing, or the server does not start.
    """
    lab = Lab(
        settings.folder,
        LabSettings(
            dataset=datasets.dataset(settings.dataset).name,
            idle_timeout_s=settings.idle_timeout,
            slow_disk=settings.slow_disk,
            port=settings.port,
            extra_port=settings.extra_port,
        ),
    )
    with locked_lab(lab.places):  # a program that measures on it would measure what is done here
        running = lab.up(kept=True)
    console = terminal()
    console.print(
        f"MariaDB runs in {lab.folder} (process {running.pid}, port {running.port}, extra port {running.extra_port}): "
        f"{lab.dataset.description}.",
        soft_wrap=True,
    )
    console.print(account_in_words(running.account, lab.folder), soft_wrap=True)
    console.print(f"Its root: mariadb --defaults-file={lab.root_file}", soft_wrap=True)
    console.print(f"Next: poolpilot lab load --folder {settings.folder} --workload joins_beside", soft_wrap=True)
    console.print(f"and, meanwhile: poolpilot advise F={lab.defaults_file}", soft_wrap=True)


def disk(settings: DiskSettings, _: Path | None = None) -> None:
    """Changes the latency of a slow disk.

    Raises:
        SettingError: The test server has none.
    """
    slow = Lab.of(settings.folder).slow_disk
    if slow is None:
        raise SettingError(
            f"the test server in {settings.folder} has no slow disk; start it with: poolpilot lab up --slow-disk"
        )
    read_us, write_us, flush_us = settings.read_us, settings.write_us, settings.flush_us
    slow.set(read_us, write_us, flush_us)
    typer.echo(f"from now on a read takes {read_us} us more, a write {write_us} us, a flush {flush_us} us")


def down(settings: DownSettings, _: Path | None = None) -> None:
    """Stops a test server."""
    lab = Lab.of(settings.folder)
    with locked_lab(lab.places):
        stopped = lab.down()
    if settings.remove:
        lab.remove()
    kept = "its data are removed" if settings.remove else "its data stay"
    typer.echo(f"the MariaDB in {settings.folder} {'is stopped' if stopped else 'did not run'}; {kept}")


def workloads(json_path: Path | None) -> None:
    """Shows the families of workloads."""
    table = Table("workload", "split", "what it is", "classes (connections, target)", title="Workloads")
    drawn = {name: draw_workload(family, 1, 0) for name, family in FAMILIES.items()}
    for name, family in FAMILIES.items():
        classes = ", ".join(
            _class_in_words(each.name, each.connections, each.target_ms) for each in drawn[name].classes
        )
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


def _class_in_words(name: str, connections: int, target_ms: float | None) -> str:
    return f"{name} ({connections}, {'no target' if target_ms is None else f'{target_ms:g} ms'})"
