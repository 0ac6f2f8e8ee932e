"""Where a server is and who asks: a DSN in the manner of the Percona tools, a defaults file, never a password."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from poolpilot.errors import SettingError
from poolpilot.mariadb.login.tls import Tls, expanded
from poolpilot.mariadb.option_files.client_defaults import DEFAULT_PORT, login_name
from poolpilot.mariadb.option_files.client_options import ClientOptions
from poolpilot.mariadb.option_files.option_line import shown
from poolpilot.mariadb.option_files.way_in import LOOPBACK, WayIn, as_utf8, port_of

PARTS = {
    "h": "host",
    "P": "port",
    "E": "extra_port",
    "S": "socket",
    "u": "user",
    "F": "defaults_file",
    "G": "defaults_group_suffix",
}
"""Letter of a DSN part to its name; both are understood, `h=db1,P=3306` and `host=db1,port=3306` alike."""

PASSWORD_PARTS = ("p", "password", "passwd")
OWN_FORM = (
    "h=HOST,P=PORT,u=USER or S=SOCKET, and name the file that holds the password, of mode 0600, with F=/path/to/file"
)


@dataclass(frozen=True, slots=True)
class Account:
    """How to reach a server, merged from the DSN and the defaults file.

    Attributes:
        user: Account name.
        password: Its password, from the defaults file alone; never shown.
        host: Host of a TCP connection; with a socket that of its extra port, which is this host.
        port: Its port.
        socket: Unix socket; None for TCP.
        extra_port: Port of the server's `extra_port`, where the caller names it; else the server is asked.
        tls: How the connection is to be encrypted, from the defaults file alone.
        asked: The DSN that led to it; empty where it was made without.
        warnings: What of the option files was left out, as sentences.
    """

    user: str
    password: str = field(repr=False)
    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    socket: Path | None = None
    extra_port: int | None = None
    tls: Tls = field(default_factory=Tls)
    asked: str = ""
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Where the server is, for messages."""
        return shown(self.socket) if self.socket else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Dsn:
    """The parts a caller named.

    Attributes:
        host: Host of a TCP connection.
        port: Its port.
        extra_port: The server's extra port.
        socket: Unix socket.
        user: Account name.
        defaults_file: The one option file to read; those that `mariadb` reads where none is named.
        defaults_group_suffix: Also read the groups with this suffix, such as `_staging`, not that of the environment.
    """

    host: str | None = None
    port: int | None = None
    extra_port: int | None = None
    socket: Path | None = None
    user: str | None = None
    defaults_file: Path | None = None
    defaults_group_suffix: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `S=/run/mysqld/mysqld.sock`, `h=db1,P=3306,F=~/.staging.cnf`, or a bare host name.

        Raises:
            SettingError: A part is unknown, empty or given twice, a port is out of range, or it holds a password or may
                hold one, as a URL does: then nothing of it is told.
        """
        given: dict[str, str] = {}
        if "://" in text:
            raise SettingError(f"a DSN is no URL: write {OWN_FORM}")
        for part in filter(None, text.split(",")):
            letter, equals, value = part.partition("=")
            name = PARTS.get(letter, letter) if equals else "host"
            if equals and letter in PASSWORD_PARTS:
                raise SettingError(
                    "a password on the command line is readable by everybody who may list processes; put it under "
                    "[client] into a file of mode 0600 and name that file: F=/path/to/file"
                )
            if equals and name not in PARTS.values():
                known = ", ".join(f"{part}={words}" for part, words in PARTS.items())
                named = repr(letter) if letter.isidentifier() else "before a ="  # which may hold a password
                raise SettingError(f"the DSN part {named} is unknown; there are {known}")
            if name in given or (equals and not value):
                raise SettingError(f"the DSN names {name} {'twice' if name in given else 'without a value'}")
            given[name] = value if equals else letter
        if "@" in given.get("host", ""):
            raise SettingError(f"a host name has no account before it: write {OWN_FORM}")
        return cls(
            host=given.get("host"),
            port=_port("port", given.get("port")),
            extra_port=_port("extra_port", given.get("extra_port")),
            socket=_path(given.get("socket")),
            user=given.get("user"),
            defaults_file=_path(given.get("defaults_file")),
            defaults_group_suffix=given.get("defaults_group_suffix", ""),
        )

    def account(self) -> Account:
        """Merges the parts with the option files; the parts win, and where no file is named those of `mariadb` count.

        Raises:
            SettingError: A file cannot be read or followed, or it is not clear which server is meant.
        """
        options = ClientOptions.read(self.defaults_file, self.defaults_group_suffix)
        every = options.all
        named = WayIn(self.host or "", self.port, self.socket).before(WayIn.of(options.own))
        way = named.decided(options.client)
        return Account(
            user=as_utf8("user", self.user or every.get("user", "")) or login_name(),
            password=every.get("password", ""),
            host=way.host,
            port=way.port or DEFAULT_PORT,
            socket=way.socket,
            extra_port=self.extra_port or _port("extra-port", every.get("extra-port")),
            tls=Tls.read(every),
            asked=str(self),
            warnings=options.warnings,
        )

    @property
    def file(self) -> Path | None:
        """The defaults file that holds the password: the one named, else the one at home; None where there is none."""
        if self.defaults_file is not None:
            return self.defaults_file
        own = Path.home() / ".my.cnf"
        return own if own.is_file() else None

    def __str__(self) -> str:
        """The parts, alike for whoever names the same ones."""
        given = {letter: getattr(self, name) for letter, name in PARTS.items()}
        if self.defaults_file is not None:
            given["F"] = self.defaults_file.absolute()
        return shown(",".join(f"{letter}={value}" for letter, value in given.items() if value))


def _port(name: str, text: str | None) -> int | None:
    return None if text is None else port_of(name, text)


def _path(text: str | None) -> Path | None:
    return expanded(text) if text else None
