"""Where a server is and who asks: a DSN in the manner of the Percona tools, a defaults file, never a password."""

import configparser
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from poolpilot.env.mariadb.tls import Tls, expanded
from poolpilot.errors import SettingError

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
CLIENT_GROUPS = ("client", "client-server", "client-mariadb")
"""Groups of a defaults file that every MariaDB client reads."""

OWN_GROUP = "poolpilot"
"""The group for what those clients refuse, such as extra-port; it wins over theirs."""

OWN_FORM = (
    "h=HOST,P=PORT,u=USER or S=SOCKET, and name the file that holds the password, of mode 0600, with F=/path/to/file"
)
LARGEST_PORT = 65_535

LARGEST_FILE = 1 << 20
"""Bytes of a defaults file."""

ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "s": " ", '"': '"', "'": "'", "\\": "\\"}
"""What MariaDB's clients read behind a backslash in the value of an option; elsewhere it stands for itself."""

_BEFORE_COMMENT = re.compile(r"""(?:'(?:\\.|[^'])*(?:'|$)|"(?:\\.|[^"])*(?:"|$)|[^'"#])*""")
"""Of a line, all up to a # that is in no quotes."""

_ESCAPE = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Account:
    """How to reach a server, merged from the DSN and the defaults file.

    Attributes:
        user: Account name.
        password: Its password, from the defaults file alone; never shown.
        host: Host of a TCP connection.
        port: Its port.
        socket: Unix socket, which wins over TCP; None for TCP.
        extra_port: Port of the server's `extra_port`, where the caller names it; else the server is asked.
        tls: How the connection is to be encrypted, from the defaults file alone.
    """

    user: str
    password: str = field(repr=False)
    host: str = "127.0.0.1"
    port: int = 3306
    socket: Path | None = None
    extra_port: int | None = None
    tls: Tls = field(default_factory=Tls)

    def __str__(self) -> str:
        """Where the server is, for messages."""
        return str(self.socket) if self.socket else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Dsn:
    """The parts a caller named.

    Attributes:
        host: Host of a TCP connection.
        port: Its port.
        extra_port: The server's extra port.
        socket: Unix socket.
        user: Account name.
        defaults_file: File to read `[client]` and `[poolpilot]` from; ~/.my.cnf where none is named and it exists.
        defaults_group_suffix: Also read the groups with this suffix, such as `_staging`.
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
        """Merges the parts with the defaults file; the parts win.

        Raises:
            SettingError: The defaults file cannot be read, or holds a port or a switch that is none.
        """
        options = self._options()
        socket = self.socket or (None if self.host else _path(options.get("socket")))
        return Account(
            user=self.user or options.get("user") or os.environ.get("USER", "root"),
            password=options.get("password", ""),
            host=self.host or options.get("host") or "127.0.0.1",
            port=self.port or _port("port", options.get("port")) or 3306,
            socket=socket,
            extra_port=self.extra_port or _port("extra-port", options.get("extra-port")),
            tls=Tls.read(options),
        )

    @property
    def file(self) -> Path | None:
        """The defaults file that is read; None where there is none."""
        if self.defaults_file is not None:
            return self.defaults_file
        own = Path.home() / ".my.cnf"
        return own if own.is_file() else None

    def _options(self) -> Mapping[str, str]:
        return {} if self.file is None else _client_options(self.file, self.defaults_group_suffix)


def option_value(text: str) -> str:
    """What stands behind the = of an option as MariaDB's clients read it.

    A comment ends it, one pair of quotes around it falls away, and what is escaped is taken for what it means.
    """
    value = _without_comment(text).strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in ("'", '"'):
        value = value[1:-1]
    return _ESCAPE.sub(lambda found: ESCAPED.get(found[1], found[0]), value)


def _without_comment(line: str) -> str:
    found = _BEFORE_COMMENT.match(line)
    return line if found is None else found[0]


def _client_options(file: Path, suffix: str) -> dict[str, str]:
    parser = configparser.RawConfigParser(allow_no_value=True, strict=False)
    try:
        lines = [line.strip() for line in _text_of(file).splitlines()]  # indents mean nothing there
        parser.read_string("\n".join(_without_comment(line) for line in lines if not line.startswith("!")), str(file))
    except OSError as error:
        raise SettingError(f"cannot read the defaults file {file}: {error.strerror}") from error
    except (configparser.Error, UnicodeDecodeError) as error:
        raise SettingError(f"the defaults file {file} is no option file: {str(error).splitlines()[0]}") from error
    named = (*CLIENT_GROUPS, OWN_GROUP)
    groups = [*named, *(f"{group}{suffix}" for group in named if suffix)]
    options: dict[str, str] = {}
    for group in filter(parser.has_section, groups):
        for name, value in parser.items(group):
            options.pop(name.replace("_", "-"), None)  # so that the last one stands last
            options[name.replace("_", "-")] = option_value(value or "")
    return options


def _text_of(file: Path) -> str:
    with file.open("rb") as source:  # which may be a pipe, whose size nobody knows beforehand
        content = source.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise SettingError(f"the defaults file {file} is no option file: allowed are {LARGEST_FILE} bytes at most")
    return content.decode("utf-8")


def _port(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or not 1 <= int(text) <= LARGEST_PORT:
        raise SettingError(f"{name} is {text!r}; allowed is a whole number in 1..{LARGEST_PORT}")
    return int(text)


def _path(text: str | None) -> Path | None:
    return expanded(text) if text else None
