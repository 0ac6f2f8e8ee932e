"""The server of a test server: how its data are installed, how it starts, and the process that it is.

A process is ended by its id, and told apart from another one that took the id over.
"""

import contextlib
import json
import os
import shutil
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from poolpilot.durability.durable_writes import write_durably
from poolpilot.errors import ServerError
from poolpilot.lab.host.accounts import Accounts
from poolpilot.lab.host.folder import LabFolder
from poolpilot.lab.host.os_account import ROOT_ID, OsAccount
from poolpilot.lab.host.private_file import write_private
from poolpilot.lab.host.programs import program

POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Running:
    """A server that runs.

    Attributes:
        pid: Its process.
        started_ticks: When that process started, so that another one of the same id is not taken for it.
        port: TCP port.
        extra_port: Extra port.
        kept: Whether somebody started it to use it, and not a program for the time that it runs.
        account: Account of the operating system that it runs as; empty for a server that an earlier version started.
    """

    pid: int
    started_ticks: int
    port: int
    extra_port: int
    kept: bool = False
    account: str = ""

    @classmethod
    def spawn(
        cls,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        *,
        port: int,
        extra_port: int,
        kept: bool,
        account: str,
    ) -> Self:
        """Starts a server in a session of its own; not by `subprocess`, since it may outlive this process."""
        appended = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        pid = os.posix_spawnp(
            command[0],
            list(command),
            dict(environment),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), appended, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
        return cls(pid, _started_ticks(pid) or 0, port, extra_port, kept, account)

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """The server that a file names, if it still runs."""
        try:
            noted = cls(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        return noted if noted.alive else None

    def write(self, path: Path) -> None:
        """Keeps it in a file."""
        write_durably(path, json.dumps(asdict(self)).encode())

    @property
    def alive(self) -> bool:
        """Whether that very process still runs."""
        return _started_ticks(self.pid) == self.started_ticks

    def stop(self, within_s: float) -> None:
        """Asks it to end, and ends it if it has not by then."""
        for signalled in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signalled)
            ends_s = time.monotonic() + within_s
            while self.alive and time.monotonic() < ends_s:
                time.sleep(POLL_S)
            if not self.alive:
                break
        with contextlib.suppress(ChildProcessError):  # it is ours to reap only where this process started it
            os.waitpid(self.pid, os.WNOHANG)


def _started_ticks(pid: int) -> int | None:
    """Clock ticks since boot when a process started; None when it is gone or only waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else int(fields[19])


def environment(folder: LabFolder) -> Mapping[str, str]:
    """The environment of both programs: their temporary files stay in the folder."""
    return {**os.environ, "TMPDIR": str(folder.temporary)}


def hand_over(folder: LabFolder, account: OsAccount) -> None:
    """Gives the account what the server writes to."""
    for tree in (folder.files, folder.temporary):
        tree.mkdir(0o700, exist_ok=True)
    for tree in (folder.files, folder.temporary, folder.data):
        if tree.is_dir():
            account.own(tree)


def install(folder: LabFolder, account: OsAccount) -> None:
    """Makes the data of a new server; nobody can log in to it before `Accounts` lets them.

    Raises:
        ServerError: The program is missing or fails.
    """
    shutil.rmtree(folder.unfinished, ignore_errors=True)
    folder.unfinished.mkdir(0o700)
    account.own(folder.unfinished)
    # Run as the account, and not told its name with --user: with that root's run would change the owner of a plugin
    # folder of the machine's own MariaDB.
    command = [
        program("mariadb-install-db"),
        "--no-defaults",
        f"--datadir={folder.unfinished}",
        "--skip-test-db",
        "--auth-root-authentication-method=socket",
        "--auth-root-socket-user=root",
    ]
    code = account.run(command, folder.install_log, cwd=folder.top, environment=environment(folder))
    if code != 0:
        raise ServerError(f"mariadb-install-db failed with code {code}; see {folder.install_log}")
    folder.unfinished.rename(folder.data)


def write_accounts(accounts: Accounts, folder: LabFolder, account: OsAccount, port: int, extra_port: int) -> None:
    """Writes the files of those who may log in, and the statements that the server runs first to let them."""
    accounts.write(folder, port, extra_port)
    write_private(folder.first_statements, accounts.statements(), owner=(account.uid, account.gid))


def options(folder: LabFolder, account: OsAccount, port: int, extra_port: int) -> Sequence[str]:
    """Where the server is, who it is, and what keeps others out."""
    return [
        "--no-defaults",
        *([f"--user={account.name}"] if os.geteuid() == ROOT_ID else []),
        f"--datadir={folder.data}",
        f"--socket={folder.socket}",
        f"--pid-file={folder.data}/mariadbd.pid",
        f"--init-file={folder.first_statements}",
        f"--secure-file-priv={folder.files}",
        "--local-infile=OFF",
        "--bind-address=127.0.0.1",
        "--skip-name-resolve",
        f"--port={port}",
        f"--extra-port={extra_port}",
        "--extra-max-connections=8",
    ]
