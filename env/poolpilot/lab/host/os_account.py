"""The operating system's account that a server runs as: where root starts it, one that has no privileges."""

import os
import pwd
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from poolpilot.errors import ServerError

UNPRIVILEGED = ("mysql", "nobody")
"""Accounts that a server started by root may run as; the first that is there and reaches the folder is taken."""

ROOT, ROOT_ID = "root", 0


@dataclass(frozen=True, slots=True)
class OsAccount:
    """An account.

    Attributes:
        name: Its name; its number where it has none.
        uid: User id.
        gid: Id of its group.
    """

    name: str
    uid: int
    gid: int

    @classmethod
    def ours(cls) -> Self:
        """The one that this process runs as."""
        uid = os.geteuid()
        try:
            return cls(pwd.getpwuid(uid).pw_name, uid, os.getegid())
        except KeyError:
            return cls(str(uid), uid, os.getegid())

    @classmethod
    def named(cls, name: str) -> Self | None:
        """The account of a name, if there is one and it is not root's."""
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            return None
        return cls(name, entry.pw_uid, entry.pw_gid) if entry.pw_uid != ROOT_ID else None

    def own(self, tree: Path) -> None:
        """Takes over a folder that is another account's; its top comes last: what is cut short is done again.

        Raises:
            ServerError: It cannot be taken over.
        """
        if tree.stat().st_uid == self.uid:
            return
        try:
            for _, folders, files, descriptor in os.fwalk(tree, topdown=False):
                for name in (*folders, *files):
                    os.chown(name, self.uid, self.gid, dir_fd=descriptor, follow_symlinks=False)
            os.chown(tree, self.uid, self.gid)
        except PermissionError as error:
            raise ServerError(f"{tree} belongs to another account than {self.name}; name another folder") from error

    def run(self, command: Sequence[str], log: Path, *, cwd: Path, environment: Mapping[str, str]) -> int:
        """Runs a program as this account and returns its exit status; what it says goes to a file."""
        with log.open("wb") as output:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=cwd,
                env=environment,
                start_new_session=True,
                check=False,
                **self._switch(),
            )
        return done.returncode

    def reaches(self, folder: Path) -> bool:
        """Whether a program that runs as this account comes through to a folder."""
        try:
            done = subprocess.run(["test", "-x", folder], cwd="/", check=False, **self._switch())
        except OSError:  # the account may not be taken on
            return False
        return done.returncode == 0

    def _switch(self) -> dict[str, Any]:
        """What makes a program run as this account; nothing where we are it."""
        return {} if self.uid == os.geteuid() else {"user": self.uid, "group": self.gid, "extra_groups": ()}


def server_account(folder: Path, data: Path) -> OsAccount:
    """The account that a server of a folder runs as; the folder is closed to all others.

    It is ours, but for root: root's server runs as an account without privileges where one reaches the folder.

    Args:
        folder: The test server's; where it is not root's, its owner comes first.
        data: Its data; likewise.

    Raises:
        ServerError: The folder is another account's.
    """
    ours = OsAccount.ours()
    if ours.uid == ROOT_ID:
        for account in _candidates(folder, data):
            if _admits(folder, account):
                return account
    try:
        folder.chmod(0o700)
    except PermissionError as error:
        raise ServerError(f"the folder {folder} belongs to another account; name one of your own") from error
    return ours


def _candidates(*owned: Path) -> list[OsAccount]:
    names = list(UNPRIVILEGED)
    for place in owned:
        with suppress(FileNotFoundError, KeyError):  # not there yet, or its owner has no name
            names.insert(0, place.owner())
    return [account for account in map(OsAccount.named, names) if account is not None]


def _admits(folder: Path, account: OsAccount) -> bool:
    """Lets the account's group through a folder, and sees whether it comes through those above it as well."""
    try:
        os.chown(folder, -1, account.gid)
    except OSError:  # the file system does not know it
        return False
    folder.chmod(0o710)
    return account.reaches(folder)
