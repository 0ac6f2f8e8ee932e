"""By which way MariaDB's client goes to a server: by TCP to a host, or by a socket of this host."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from poolpilot.errors import SettingError
from poolpilot.mariadb.option_files.client_defaults import DEFAULT_PORT, default_socket
from poolpilot.mariadb.option_files.option_line import shown

LARGEST_PORT = 65_535
LOCAL_HOST = "localhost"
"""The one name, in these letters, that those clients take for the socket; all others go by TCP."""

LOOPBACK = "127.0.0.1"
PROTOCOLS = ("tcp", "socket", "pipe")
LISTS = ",;=/"
"""Marks of a host that those clients read as more than one, or as options."""


@dataclass(frozen=True, slots=True)
class WayIn:
    """What is named of a way in; once it is `decided`, the way.

    Attributes:
        host: Host of a TCP connection, or of the extra port beside a socket.
        port: Its port.
        socket: The socket; decided, None is TCP.
    """

    host: str = ""
    port: int | None = None
    socket: Path | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Self:
        """What options name.

        Raises:
            SettingError: One of them is no host, port or socket.
        """
        socket = options.get("socket")
        if socket is not None and not socket:
            raise SettingError(
                "the option socket of a defaults file is empty: name the socket, or leave the option out"
            )
        host = as_utf8("host", options.get("host", ""))
        port = options.get("port", "")
        # Those clients take a port of 0 for none, and ~ for nobody's home.
        named = port_of("port", port) if port.strip("0") else None
        return cls(host, named, Path(socket) if socket else None)

    def before(self, own: "WayIn") -> "WayIn":
        """This, and of another what says nothing against it.

        Raises:
            SettingError: Both together name two ways.
        """
        both = replace(self, host=self.host or own.host, port=self.port or own.port)
        if self.socket is not None:
            both = self
        elif not (self.host or self.port):
            both = replace(both, socket=own.socket)
        if both.socket is not None and (both.port or both.host not in ("", LOCAL_HOST)):
            tcp = f"{both.host or LOCAL_HOST}:{both.port or DEFAULT_PORT}"
            raise SettingError(
                f"the socket {shown(both.socket)} and {tcp} may be two servers: name one of them (S=, or h= and P=)"
            )
        return both

    def decided(self, client: Mapping[str, str]) -> "WayIn":
        """The way that MariaDB's client goes, were it told of this and had it read these options.

        A host other than localhost goes by TCP, and so does a port that is named beside the option files; else the
        socket counts, unless `protocol` says TCP.

        Raises:
            SettingError: Host, port or protocol are none, or which socket is meant is not clear.
        """
        files = WayIn.of({"host": os.environ.get("MYSQL_HOST", ""), **client})
        host, protocol = self.host or files.host, _protocol(client)
        if set(LISTS) & set(host):
            raise SettingError(f"the host {host!r} may be more than one server: name one host (h=)")
        if self.socket is not None:
            return WayIn(host if host == LOCAL_HOST else LOOPBACK, None, self.socket)
        if self.port is not None or host not in ("", LOCAL_HOST) or protocol == "tcp":
            return WayIn(host or LOCAL_HOST, self.port or files.port or _environment_port())
        return WayIn(host or LOOPBACK, None, files.socket or default_socket())


def port_of(name: str, text: str) -> int:
    """A port.

    Raises:
        SettingError: It is none.
    """
    if not text.isdecimal() or not 1 <= int(text) <= LARGEST_PORT:
        raise SettingError(f"{name} is {shown(text)!r}; allowed is a whole number in 1..{LARGEST_PORT}")
    return int(text)


def as_utf8(name: str, text: str) -> str:
    """A name that is sent or looked up.

    Raises:
        SettingError: Its bytes are no UTF-8.
    """
    if shown(text) != text:
        raise SettingError(f"{name} is {shown(text)}, which is no UTF-8: write it so, or in ASCII")
    return text


def _environment_port() -> int:
    text = os.environ.get("MYSQL_TCP_PORT", "")
    return port_of("MYSQL_TCP_PORT", text) if text.strip("0") else DEFAULT_PORT


def _protocol(options: Mapping[str, str]) -> str:
    """How the option files want the server to be reached, which may be cut short; empty where they do not care."""
    text = options.get("protocol", "").lower()
    meant = next((one for one in PROTOCOLS if one.startswith(text)), "pipe") if text else ""
    if meant == "pipe":
        raise SettingError(f"protocol is {shown(text)!r} in a defaults file; allowed are tcp and socket")
    return meant
