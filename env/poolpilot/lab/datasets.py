"""The data of a test server: one set that fits into memory, one far larger than the buffer pool."""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from poolpilot.errors import ServerError, SettingError
from poolpilot.lab.host.programs import program
from poolpilot.lab.side.side_job import OF_A_TABLE
from poolpilot.lab.sql_workload import DatasetName, Script, SqlWorkload
from poolpilot.mariadb.session import Session

BYTES_PER_ROW = 260
"""Bytes that a row of sbtest takes on disk, index included, as measured."""

HOT_ROWS = 1000
BASE_BYTES = 600 << 20
"""System tables, redo log, undo and the order entry tables."""

WITHOUT_TABLES: tuple[Script, ...] = ("user_lock", "waiting")
"""Scripts that read no table and call no procedure of the data set."""

LUA = Path(__file__).with_name("lua")


@dataclass(frozen=True, slots=True)
class Dataset:
    """Tables of sysbench, a table of hot rows, and the order entry tables.

    Attributes:
        name: How it is called.
        tables: Number of sbtest tables.
        rows: Rows of each.
        warehouses: Warehouses of the order entry tables.
        buffer_pool_mb: Buffer pool of the server that holds it.
        description: One sentence for people.
    """

    name: DatasetName
    tables: int
    rows: int
    warehouses: int
    buffer_pool_mb: int
    description: str

    @property
    def in_memory(self) -> bool:
        """Whether the buffer pool holds all of it."""
        return self.tables * self.rows * BYTES_PER_ROW < self.buffer_pool_mb << 20

    @property
    def bytes_on_disk(self) -> int:
        """About what it takes, the server's own files included."""
        return BASE_BYTES + self.tables * self.rows * BYTES_PER_ROW

    def options_for(self, script: Script) -> Mapping[str, int]:
        """Options that tell a script how large the tables are."""
        if script == "tpcc":
            return {"warehouses": self.warehouses}
        if script in (*WITHOUT_TABLES, "hot_rows", "remote_call"):
            return {}
        return {"tables": self.tables, "table_size": self.rows}


DATASETS: Mapping[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset("small", 4, 100_000, 4, 512, "100 MB, all of it in a buffer pool of 512 MB"),
        Dataset("large", 4, 500_000, 4, 64, "500 MB behind a buffer pool of 64 MB"),
        Dataset("orders", 1, 10_000, 20, 512, "20 warehouses of order entry, in a buffer pool of 512 MB"),
        Dataset("empty", 0, 0, 0, 64, "no tables, for data of your own"),
    )
}


def dataset(name: str) -> Dataset:
    """The data set of a name.

    Raises:
        SettingError: There is none.
    """
    if name not in DATASETS:
        raise SettingError(f"there is no data set {name!r}; there are {', '.join(DATASETS)}")
    return DATASETS[name]


def check_tables(workload: SqlWorkload) -> None:
    """Refuses a class or a side job whose tables the data set of its workload does not have.

    Raises:
        SettingError: There is one.
    """
    held = dataset(workload.dataset)
    if not held.tables and workload.side is not None and workload.side.kind in OF_A_TABLE:
        raise SettingError(f"the side job {workload.side.kind} needs a table, but the data set {held.name!r} has none")
    for one in workload.classes:
        if not held.tables and one.script not in WITHOUT_TABLES:
            raise SettingError(f"class {one.name} sends {one.script}, but the data set {held.name!r} has no tables")
        wanted = one.options.get("warehouses", 0)
        if isinstance(wanted, int | float) and wanted > held.warehouses:
            most = max(DATASETS.values(), key=lambda each: each.warehouses)
            raise SettingError(
                f"class {one.name} wants {wanted:g} warehouses, but the data set {held.name!r} has {held.warehouses}; "
                f"{most.name!r} has {most.warehouses}"
            )


def check_space(folder: Path, wanted: Dataset) -> None:
    """Refuses to load what the disk cannot hold.

    Raises:
        ServerError: Too little is free.
    """
    free = shutil.disk_usage(folder).free
    if free < wanted.bytes_on_disk:
        raise ServerError(
            f"the data set {wanted.name!r} takes about {wanted.bytes_on_disk >> 20} MB, but {folder} has "
            f"{free >> 20} MB free; name another folder"
        )


def load(session: Session, load_file: Path, wanted: Dataset) -> None:
    """Makes and fills the tables anew.

    Args:
        session: The administrator's.
        load_file: File that tells sysbench where the server is and who asks.
        wanted: The data set.

    Raises:
        ServerError: sysbench is missing or fails, or the server refuses.
    """
    if wanted.tables == 0:
        return
    session.execute("DROP DATABASE IF EXISTS sbtest")
    session.execute("CREATE DATABASE sbtest")
    session.execute("USE sbtest")
    session.execute("CREATE TABLE hot (id INT PRIMARY KEY, hits BIGINT NOT NULL DEFAULT 0)")
    session.execute(f"INSERT INTO hot (id) SELECT seq FROM seq_1_to_{HOT_ROWS}")
    _sysbench(load_file, "sbtest tables", "oltp_read_only", f"--tables={wanted.tables}", f"--table_size={wanted.rows}")
    _sysbench(load_file, "order entry tables", "tpcc.lua", f"--warehouses={wanted.warehouses}")


REMOTE_CALL = """CREATE OR REPLACE PROCEDURE sbtest.remote_call(IN wait_ms DOUBLE)
DO MASTER_GTID_WAIT(CONCAT(CONNECTION_ID(), '-1-4000000000'), wait_ms / 1000)"""
"""Waits for a transaction that never comes, on a condition that nobody reports to the pool. So does a function or an
engine plugin that calls a remote service; SLEEP() would report it, and so would a wait for a replication domain that
somebody waits for already, which is why every connection has a domain of its own."""


def make_procedures(session: Session, wanted: Dataset) -> None:
    """Makes the procedures that scripts call, in folders of earlier versions too."""
    if wanted.tables:
        session.execute(REMOTE_CALL)


def warm(session: Session, wanted: Dataset) -> None:
    """Reads every table once where memory holds it, so that the first windows do not pay for cold pages."""
    if not wanted.in_memory:
        return
    for number in range(1, wanted.tables + 1):
        session.rows(f"SELECT SUM(LENGTH(pad)) FROM sbtest.sbtest{number} FORCE INDEX (PRIMARY)")
        session.rows(f"SELECT SUM(k) FROM sbtest.sbtest{number}")


def _sysbench(load_file: Path, what: str, *script: str) -> None:
    command = [
        program("sysbench"),
        f"--config-file={load_file}",
        *script,
        "--threads=2",
        "prepare",
    ]
    done = subprocess.run(command, cwd=LUA, capture_output=True, text=True, check=False, start_new_session=True)
    if done.returncode != 0:
        printed = (done.stderr or done.stdout).strip().splitlines()
        raise ServerError(f"sysbench could not load the {what}: {printed[-1] if printed else 'it said nothing'}")
