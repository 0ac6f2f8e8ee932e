"""A private MariaDB in a folder: its own data, socket, free ports and accounts; nothing outside it is touched."""

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.durability.durable_writes import write_durably
from poolpilot.env.interrupts import held
from poolpilot.errors import ServerError, SettingError
from poolpilot.lab import datasets
from poolpilot.lab.datasets import Dataset
from poolpilot.lab.host import mariadbd
from poolpilot.lab.host.accounts import Accounts
from poolpilot.lab.host.folder import LabFolder
from poolpilot.lab.host.lab_lock import locked_lab, make_lab_folder
from poolpilot.lab.host.mariadbd import POLL_S, Running
from poolpilot.lab.host.os_account import OsAccount, server_account
from poolpilot.lab.host.ports import free_or_checked
from poolpilot.lab.host.private_file import write_private
from poolpilot.lab.host.programs import program
from poolpilot.lab.host.slow_disk import SlowDisk
from poolpilot.lab.sql_workload import DatasetName
from poolpilot.mariadb.login.dsn import Account, Dsn
from poolpilot.mariadb.session import Session


class LabSettings(BaseModel):
    """What kind of server a test server starts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: DatasetName = Field(default="small", description="Data set: small fits into memory, large does not.")
    idle_timeout_s: int = Field(
        default=1, ge=1, description="thread_pool_idle_timeout: short, so that little carries over; 60 is the stock."
    )
    slow_disk: bool = Field(default=False, description="Put a disk of changeable latency under the server.")
    port: int | None = Field(default=None, ge=1, le=65_535, description="TCP port; a free one if not given.")
    extra_port: int | None = Field(default=None, ge=1, le=65_535, description="Extra port; a free one if not given.")
    max_connections: int = Field(default=2000, ge=10, description="max_connections of the server.")
    start_within_s: float = Field(default=60.0, gt=0.0, description="Seconds that a start may take.")
    stop_within_s: float = Field(default=30.0, gt=0.0, description="Seconds that a stop may take before it is killed.")


class Lab:
    """The test server of a folder.

    Args:
        folder: Where everything lies; made by `up`.
        settings: What kind of server.
        extra_options: Further options of mariadbd, for unusual servers; they come last and so win.

    Raises:
        SettingError: The path is too long for a socket.
    """

    def __init__(self, folder: Path, settings: LabSettings | None = None, extra_options: Sequence[str] = ()) -> None:
        self.places = LabFolder(folder.resolve())
        self.settings = settings or LabSettings()
        self.extra_options = tuple(extra_options)
        self.dataset: Dataset = datasets.dataset(self.settings.dataset)
        if self.places.too_long:
            raise SettingError(f"the folder {self.folder} is too long for a socket's address: choose a shorter one")

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The test server that was made in a folder, with the settings it was made with that this version knows.

        Raises:
            ServerError: There is none.
        """
        try:
            made = json.loads(LabFolder(folder).settings.read_bytes())
            known = {name: made[name] for name in LabSettings.model_fields if name in made}
            return cls(folder, LabSettings.model_validate(known))
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise ServerError(
                f"there is no test server in {folder}; make one: poolpilot lab up --folder {folder}"
            ) from error

    @property
    def folder(self) -> Path:
        """Where everything lies."""
        return self.places.top

    @property
    def socket(self) -> Path:
        """The server's Unix socket."""
        return self.places.socket

    @property
    def root_file(self) -> Path:
        """Defaults file of the administrator, mode 0600."""
        return self.places.root_file

    @property
    def defaults_file(self) -> Path:
        """Defaults file of the tuner's account, mode 0600."""
        return self.places.tuner_file

    @property
    def load_file(self) -> Path:
        """File that tells a sysbench where the server is and who asks, mode 0600."""
        return self.places.load_file

    @property
    def root(self) -> Account:
        """The administrator, on the socket.

        Raises:
            SettingError: No server was started here.
        """
        return Dsn(defaults_file=self.root_file).account()

    @property
    def slow_disk(self) -> SlowDisk | None:
        """The disk under the server, where it is a slow one."""
        return SlowDisk(self.places.slow_disk) if self.settings.slow_disk else None

    def running(self) -> Running | None:
        """The server of this folder, if it runs."""
        return Running.read(self.places.state)

    def up(self, cpus: Sequence[int] | None = None, *, kept: bool = False) -> Running:
        """Installs the data where there are none, starts the server and loads the data set; a running one stays.

        Args:
            cpus: Processor numbers it is pinned to; not pinned if None.
            kept: Whether it is started to be used by hand, so that no program may restart it.

        Raises:
            ServerError: A program is missing, the disk is too small, a port is in use, the folder is another
                account's, the server of an earlier version runs in it, or it does not come up.
        """
        if (running := self.running()) is not None:
            return self._same(self._closed(running))
        make_lab_folder(self.places)
        account = server_account(self.folder, self.places.data)
        mariadbd.hand_over(self.places, account)
        is_new = not self.places.data.is_dir()
        if is_new:
            datasets.check_space(self.folder, self.dataset)
        elif (made := Lab.of(self.folder).settings.dataset) != self.settings.dataset:
            raise ServerError(
                f"the test server in {self.folder} holds the data set {made!r}; remove it (poolpilot lab down "
                "--remove) or name another folder"
            )
        write_durably(self.places.settings, f"{self.settings.model_dump_json(indent=1)}\n".encode())
        if is_new:  # the settings first: data without them could be neither started nor removed
            mariadbd.install(self.places, account)
        try:
            started = self._start(account, cpus, kept)
            self._await(started)
            self.places.first_statements.unlink()
            self._fill()
        except BaseException:
            self.down()
            raise
        return started

    def down(self) -> bool:
        """Stops the server, if it runs, and says whether it did; the data stay.

        Raises:
            KeyboardInterrupt: A signal came meanwhile; the server has been stopped.
        """
        with held():  # a terminal that closes sends SIGHUP twice
            running = self.running()
            if running is not None:
                if self.places.slow_disk.exists():
                    SlowDisk(self.places.slow_disk).set(0, 0, 0)
                running.stop(self.settings.stop_within_s)
            self.places.state.unlink(missing_ok=True)
        return running is not None

    def remove(self) -> None:
        """Stops the server and deletes the data, and the folder if nothing else is in it."""
        self.down()
        self.places.remove()

    @contextlib.contextmanager
    def restarted(self, cpus: Sequence[int] | None = None) -> Iterator[Running]:
        """A freshly started server for the duration of the block: nothing carries over from what ran before.

        Raises:
            TakenLabError: Another program uses the test server.
            ServerError: Somebody started its server by hand, or it does not come up.
        """
        with locked_lab(self.places):
            running = self.running()
            if running is not None and running.kept:
                raise ServerError(
                    f"somebody started the MariaDB in {self.folder} by hand; stop it (poolpilot lab down --folder "
                    f"{self.folder}) or name another folder"
                )
            self.down()
            try:
                yield self.up(cpus)
            finally:
                self.down()

    def __enter__(self) -> Self:
        self.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()

    def _same(self, running: Running) -> Running:
        """A running server that was started with what is asked for."""
        made, asked = Lab.of(self.folder).settings, self.settings
        if (made.dataset, made.slow_disk) != (asked.dataset, asked.slow_disk):
            has = f"the data set {made.dataset!r} {'on a slow disk' if made.slow_disk else 'on the disk as it is'}"
            raise ServerError(
                f"the MariaDB that runs in {self.folder} has {has}; stop it (poolpilot lab down --folder "
                f"{self.folder}) or name another folder"
            )
        return running

    def _closed(self, running: Running) -> Running:
        """A running server whose door is closed."""
        if not running.account:
            raise ServerError(
                f"an earlier version started the MariaDB in {self.folder}, and its root has no password; stop it: "
                f"poolpilot lab down --folder {self.folder}"
            )
        return running

    def _start(self, account: OsAccount, cpus: Sequence[int] | None, kept: bool) -> Running:
        port, extra_port = free_or_checked(self.settings.port), free_or_checked(self.settings.extra_port)
        mariadbd.write_accounts(Accounts.of(self.places), self.places, account, port, extra_port)
        disk = self.slow_disk
        pinned = ["taskset", "--cpu-list", ",".join(map(str, cpus))] if cpus else []
        options = [*mariadbd.options(self.places, account, port, extra_port), *self._options()]
        with held():  # a server that runs and is not written down could not be stopped
            started = Running.spawn(
                [*pinned, program("mariadbd"), *options],
                {**mariadbd.environment(self.places), **(disk.environment() if disk else {})},
                self.places.error_log,
                port=port,
                extra_port=extra_port,
                kept=kept,
                account=account.name,
            )
            try:
                started.write(self.places.state)
            except BaseException:
                started.stop(self.settings.stop_within_s)
                raise
        return started

    def _fill(self) -> None:
        with Session(self.root) as session:
            if not self.places.loaded.exists():
                datasets.load(session, self.load_file, self.dataset)
                write_private(self.places.loaded, "")
            datasets.make_procedures(session, self.dataset)
            datasets.warm(session, self.dataset)

    def _await(self, started: Running) -> None:
        ends_s = time.monotonic() + self.settings.start_within_s
        while started.alive and time.monotonic() < ends_s:
            with contextlib.suppress(ServerError), Session(self.root):
                return
            time.sleep(POLL_S)
        state = "does not answer" if started.alive else "ended at once"
        log = self.places.error_log.read_text(errors="replace")
        errors = [line for line in log.splitlines() if "[ERROR]" in line and not line.endswith("Aborting")]
        why = errors[-1].rpartition("]")[2].strip() if errors else "see error.log there"
        raise ServerError(f"the private MariaDB in {self.folder} {state}: {why}")

    def _options(self) -> list[str]:
        asynchronous = "OFF" if self.settings.slow_disk else "ON"
        return [
            "--thread-handling=pool-of-threads",
            f"--thread-pool-idle-timeout={self.settings.idle_timeout_s}",
            f"--max-connections={self.settings.max_connections}",
            f"--innodb-buffer-pool-size={self.dataset.buffer_pool_mb}M",
            "--innodb-buffer-pool-dump-at-shutdown=OFF",
            "--innodb-buffer-pool-load-at-startup=OFF",
            "--innodb-flush-method=O_DIRECT",
            "--innodb-flush-log-at-trx-commit=1",
            f"--innodb-use-native-aio={asynchronous}",
            "--skip-log-bin",
            "--performance-schema=OFF",
            *self.extra_options,
        ]
