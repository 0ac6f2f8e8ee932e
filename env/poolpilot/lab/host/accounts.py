"""Who may log in to a test server: three accounts, each with a password that its folder alone knows.

The server runs their statements before it answers anybody, so there is no moment with an open door, and a folder that
an earlier version made loses its accounts without a password. A folder keeps its passwords, so that a tuner comes back
to a server that was restarted.
"""

import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from poolpilot.lab.host.folder import LabFolder
from poolpilot.lab.host.private_file import write_private

ROOT, TUNER, LOAD = "root", "poolpilot", "poolpilot_load"

DATABASE = "sbtest"
"""The load's, and all that its account may touch."""


PASSWORD = re.compile(r"^(?:mysql-)?password=([\w-]+)$", re.MULTILINE)
"""As `secrets.token_urlsafe` makes them: no character needs quoting in SQL or in an option file."""


@dataclass(frozen=True, slots=True)
class Accounts:
    """The passwords of a test server.

    Attributes:
        root: Of the administrator, who has the socket alone.
        tuner: Of the tuner, on the socket and over TCP.
        load: Of the load, on the socket alone, with no right outside its database.
    """

    root: str = field(repr=False)
    tuner: str = field(repr=False)
    load: str = field(repr=False)

    @classmethod
    def of(cls, folder: LabFolder) -> Self:
        """Those that the folder keeps; new ones where it has none."""
        return cls(*map(_kept_or_new, (folder.root_file, folder.tuner_file, folder.load_file)))

    def statements(self) -> str:
        """What the server runs first, one statement a line; root comes last, so that its login proves all of it."""
        lines = ["DELETE FROM mysql.global_priv WHERE User IN ('', 'root')", "FLUSH PRIVILEGES"]
        for host in ("127.0.0.1", "localhost"):
            lines += _account(TUNER, host, self.tuner, "CONNECTION ADMIN ON *.*")
        rights = f"SELECT, INSERT, UPDATE, DELETE, CREATE, INDEX, EXECUTE ON {DATABASE}.*"
        lines += _account(LOAD, "localhost", self.load, rights)
        lines += _account(ROOT, "localhost", self.root, "ALL ON *.*", " WITH GRANT OPTION")
        return "".join(f"{line};\n" for line in lines)

    def write(self, folder: LabFolder, port: int, extra_port: int) -> None:
        """Writes an option file for each: two for MariaDB's clients, that of the load for sysbench."""
        write_private(folder.root_file, f"[client]\nuser={ROOT}\npassword={self.root}\nsocket={folder.socket}\n")
        write_private(
            folder.tuner_file,
            f"[client]\nuser={TUNER}\npassword={self.tuner}\nhost=127.0.0.1\nport={port}\n"
            f"[poolpilot]\nextra-port={extra_port}\n",
        )
        write_private(
            folder.load_file,
            f"mysql-socket={folder.socket}\nmysql-user={LOAD}\nmysql-password={self.load}\nmysql-db={DATABASE}\n",
        )


def _account(name: str, host: str, password: str, rights: str, option: str = "") -> list[str]:
    account = f"'{name}'@'{host}'"
    return [
        f"CREATE OR REPLACE USER {account} IDENTIFIED BY '{password}'",
        f"GRANT {rights} TO {account}{option}",
    ]


def _kept_or_new(file: Path) -> str:
    with suppress(FileNotFoundError):
        if password := PASSWORD.search(file.read_text()):
            return password[1]
    return secrets.token_urlsafe(24)
