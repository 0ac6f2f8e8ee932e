"""The command lines of a test server: how its data are installed, and with what options it starts."""

import os
import shutil
from collections.abc import Mapping, Sequence

from poolpilot.env.lab.accounts import Accounts
from poolpilot.env.lab.host.folder import LabFolder
from poolpilot.env.lab.host.os_account import ROOT_ID, OsAccount
from poolpilot.env.lab.host.private_file import write_private
from poolpilot.env.lab.host.programs import program
from poolpilot.errors import ServerError


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
