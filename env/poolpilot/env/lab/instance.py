"""A private MariaDB in a folder: its own data, socket, free ports and accounts; nothing outside it is touched."""

import contextlib
import fcntl
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from poolpilot.env.lab import datasets
from poolpilot.env.lab.datasets import Dataset
from poolpilot.env.lab.ports import free_or_checked
from poolpilot.env.lab.programs import program
from poolpilot.env.lab.running import POLL_S, Running
from poolpilot.env.lab.slow_disk import SlowDisk
from poolpilot.env.lab.workload import DatasetName
from poolpilot.env.mariadb.dsn import Account
from poolpilot.env.mariadb.session import Session
from poolpilot.featurizer.errors import ServerError, SettingError

LONGEST_SOCKET_PATH = 107
"""Bytes that a Unix socket's address holds."""

TUNER = "poolpilot"
SETTINGS_FILE = "lab-settings.json"
LOCK_FILE = "lock"


class LabSettings(BaseModel):
    """What kind of server a laboratory starts."""

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
    """The laboratory of a folder.

    Args:
        folder: Where everything lies; made by `up`.
        settings: What kind of server.
        extra_options: Further options of mariadbd, for tests of unusual servers.

    Raises:
        SettingError: The path is too long for a socket.
    """

    def __init__(self, folder: Path, settings: LabSettings | None = None, extra_options: Sequence[str] = ()) -> None:
        self.folder = folder.resolve()
        self.settings = settings or LabSettings()
        self.extra_options = tuple(extra_options)
        self.dataset: Dataset = datasets.dataset(self.settings.dataset)
        if len(os.fsencode(self.socket)) > LONGEST_SOCKET_PATH:
            raise SettingError(f"the folder {self.folder} is too long for a socket's address: choose a shorter one")

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The laboratory that was made in a folder, with the settings it was made with.

        Raises:
            ServerError: There is none.
        """
        try:
            return cls(folder, LabSettings.model_validate_json((folder / SETTINGS_FILE).read_bytes()))
        except (OSError, ValueError) as error:
            raise ServerError(
                f"there is no laboratory in {folder}; make one: poolpilot lab up --folder {folder}"
            ) from error

    @property
    def socket(self) -> Path:
        """The server's Unix socket."""
        return self.folder / "s.sock"

    @property
    def defaults_file(self) -> Path:
        """Defaults file of the tuner's account, mode 0600."""
        return self.folder / "client.cnf"

    @property
    def root(self) -> Account:
        """The administrator, on the socket."""
        return Account("root", "", socket=self.socket)

    @property
    def slow_disk(self) -> SlowDisk | None:
        """The disk under the server, where it is a slow one."""
        return SlowDisk(self.folder / "slow-disk") if self.settings.slow_disk else None

    def running(self) -> Running | None:
        """The server of this folder, if it runs."""
        return Running.read(self._state)

    def up(self, cpus: Sequence[int] | None = None, *, kept: bool = False) -> Running:
        """Installs the data where there are none, starts the server and loads the data set; a running one stays.

        Args:
            cpus: Processor numbers it is pinned to; not pinned if None.
            kept: Whether it is started to be used by hand, so that no program may restart it.

        Raises:
            ServerError: A program is missing, the disk is too small, a port is in use, or it does not come up.
        """
        if (found := self.running()) is not None:
            return found
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o700)
        if not self._data.is_dir():
            datasets.check_space(self.folder, self.dataset)
            self._install()
        elif (made := Lab.of(self.folder).settings.dataset) != self.settings.dataset:
            raise ServerError(
                f"the laboratory in {self.folder} holds the data set {made!r}; remove it (poolpilot lab down --remove) "
                "or name another folder"
            )
        (self.folder / SETTINGS_FILE).write_text(self.settings.model_dump_json(indent=1) + "\n")
        started = self._start(cpus, kept)
        try:
            self._await(started)
            with Session(self.root) as session:
                self._make_account(session, started)
                if not self._loaded.exists():
                    datasets.load(session, self.socket, self.dataset)
                    self._loaded.touch()
                datasets.warm(session, self.dataset)
        except BaseException:
            self.down()
            raise
        return started

    def down(self) -> bool:
        """Stops the server, if it runs, and says whether it did; the data stay."""
        found = self.running()
        if found is not None:
            found.stop(self.settings.stop_within_s)
        self._state.unlink(missing_ok=True)
        return found is not None

    def remove(self) -> None:
        """Stops the server and deletes the data, and the folder if nothing else is in it."""
        self.down()
        for unwanted in (self._data, self.folder / "data.new"):
            shutil.rmtree(unwanted, ignore_errors=True)
        for name in (
            SETTINGS_FILE,
            LOCK_FILE,
            "client.cnf",
            "error.log",
            "install.log",
            "slow-disk",
            "s.sock",
            "mariadbd.pid",
        ):
            (self.folder / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    @contextlib.contextmanager
    def restarted(self, cpus: Sequence[int] | None = None) -> Iterator[Running]:
        """A freshly started server for the duration of the block: nothing carries over from what ran before.

        Raises:
            ServerError: Another program uses the laboratory, or somebody started its server by hand.
        """
        with self._locked():
            found = self.running()
            if found is not None and found.kept:
                raise ServerError(
                    f"somebody started the MariaDB in {self.folder} by hand; stop it (poolpilot lab down --folder "
                    f"{self.folder}) or name another folder"
                )
            self.down()
            try:
                yield self.up(cpus)
            finally:
                self.down()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Keeps other programs out; the lock ends with this process, however that ends."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / LOCK_FILE).open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise ServerError(
                    f"another program uses the laboratory in {self.folder}; name another folder"
                ) from error
            yield

    def __enter__(self) -> Self:
        self.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    @property
    def _loaded(self) -> Path:
        """A mark that the data set is there whole: a load that was cut short begins anew."""
        return self._data / "poolpilot-loaded"

    @property
    def _state(self) -> Path:
        return self.folder / "lab.json"

    def _install(self) -> None:
        unfinished = self.folder / "data.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        command = [
            program("mariadb-install-db"),
            "--no-defaults",
            f"--datadir={unfinished}",
            "--skip-test-db",
            "--auth-root-authentication-method=normal",
            *_as_root(),
        ]
        with (self.folder / "install.log").open("wb") as log:
            done = subprocess.run(command, stdout=log, stderr=log, check=False, start_new_session=True)
        if done.returncode != 0:
            raise ServerError(f"mariadb-install-db failed with code {done.returncode}; see {self.folder}/install.log")
        unfinished.rename(self._data)

    def _start(self, cpus: Sequence[int] | None, kept: bool) -> Running:
        port, extra_port = free_or_checked(self.settings.port), free_or_checked(self.settings.extra_port)
        disk = self.slow_disk
        pinned = ["taskset", "--cpu-list", ",".join(map(str, cpus))] if cpus else []
        command = [*pinned, program("mariadbd"), *self._options(port, extra_port)]
        environment = {**os.environ, **(disk.environment() if disk else {})}
        log = self.folder / "error.log"
        started = Running.spawn(command, environment, log, port=port, extra_port=extra_port, kept=kept)
        started.write(self._state)
        return started

    def _await(self, started: Running) -> None:
        ends_s = time.monotonic() + self.settings.start_within_s
        while started.alive and time.monotonic() < ends_s:
            with contextlib.suppress(ServerError), Session(self.root):
                return
            time.sleep(POLL_S)
        state = "does not answer" if started.alive else "ended at once"
        log = (self.folder / "error.log").read_text(errors="replace")
        said = [line for line in log.splitlines() if "[ERROR]" in line and not line.endswith("Aborting")]
        why = said[-1].rpartition("]")[2].strip() if said else "see error.log there"
        raise ServerError(f"the private MariaDB in {self.folder} {state}: {why}")

    def _options(self, port: int, extra_port: int) -> list[str]:
        asynchronous = "OFF" if self.settings.slow_disk else "ON"
        return [
            "--no-defaults",
            *_as_root(),
            f"--datadir={self._data}",
            f"--socket={self.socket}",
            f"--pid-file={self.folder}/mariadbd.pid",
            "--bind-address=127.0.0.1",
            f"--port={port}",
            f"--extra-port={extra_port}",
            "--extra-max-connections=8",
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
            "--skip-name-resolve",
            "--performance-schema=OFF",
            *self.extra_options,
        ]

    def _make_account(self, session: Session, started: Running) -> None:
        """An account for the tuner over TCP, with a password that only this folder knows."""
        password = secrets.token_urlsafe(24)
        for host in ("127.0.0.1", "localhost"):
            account = f"{TUNER}@'{host}'"
            session.execute(f"CREATE OR REPLACE USER {account} IDENTIFIED BY '{password}'")
            session.execute(f"GRANT CONNECTION ADMIN ON *.* TO {account}")
        lines = ("[client]", f"user={TUNER}", f"password={password}", "host=127.0.0.1", f"port={started.port}")
        descriptor = os.open(self.defaults_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write("\n".join((*lines, f"extra-port={started.extra_port}", "")))


def _as_root() -> list[str]:
    return ["--user=root"] if os.geteuid() == 0 else []
