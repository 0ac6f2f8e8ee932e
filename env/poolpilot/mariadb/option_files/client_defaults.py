"""What MariaDB's client takes where nobody says anything: its files, its environment, its socket, who asks."""

import os
import pwd
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from poolpilot.errors import SettingError

SYSTEM_FILES = (Path("/etc/my.cnf"), Path("/etc/mysql/my.cnf"))
HOMES = ("MARIADB_HOME", "MYSQL_HOME")
"""Variables of which the first that is there names a folder with a my.cnf."""

SUFFIXES = ("MARIADB_GROUP_SUFFIX", "MYSQL_GROUP_SUFFIX")
"""Variables of which the first that is there names the suffix of further groups."""

KNOWN_SOCKETS = tuple(map(Path, ("/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock")))
"""Where servers of Debian, of the RPMs and of the archive listen, and the clients that come with them look."""

DEFAULT_PORT = 3306


def default_files() -> tuple[Path, ...]:
    """The files that it reads where it is told of none, in its order; those that are not there among them."""
    home = first_of(HOMES)
    return (*SYSTEM_FILES, *((Path(home) / "my.cnf",) if home else ()), Path.home() / ".my.cnf")


def first_of(variables: Iterable[str]) -> str:
    """The first of some variables that is there; empty where none is."""
    return next((os.environ[name] for name in variables if name in os.environ), "")


def default_socket() -> Path:
    """The socket of the environment, else the one that is there.

    Its own is built into that client, and differs from package to package.

    Raises:
        SettingError: There are more than one.
    """
    if text := os.environ.get("MYSQL_UNIX_PORT"):
        return Path(text)
    there = list(filter(Path.exists, KNOWN_SOCKETS))
    if len({one.resolve() for one in there}) > 1:
        raise SettingError(f"there are {len(there)} sockets, {', '.join(map(str, there))}: name one of them (S=)")
    return there[0] if there else KNOWN_SOCKETS[0]


def login_name() -> str:
    """Who asks: root, who has logged in, or whose process this is."""
    if os.geteuid() == 0:
        return "root"
    with suppress(OSError):
        return os.getlogin()
    with suppress(KeyError):
        return pwd.getpwuid(os.geteuid()).pw_name
    return os.environ.get("USER", "root")
