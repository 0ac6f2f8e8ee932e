"""Which server this is, where it was reached, and since when it runs: what tells a restart from a lost connection."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

ROUNDING_S = 1
"""The server counts both times in whole seconds."""


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """A running server. Two servers of one host never share a data folder, whatever ports and sockets they listen on.

    Attributes:
        hostname: Host as the server names it.
        data_folder: Its data folder.
        version: Its version.
        started_unix_s: When it started, by its own clock; a clock that is set changes the uptime too, but not this.
    """

    hostname: str
    data_folder: str
    version: str
    started_unix_s: int

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Self:
        """The identity that a server answers with: host, data folder, version, start."""
        hostname, data_folder, version, started_unix_s = row
        return cls(str(hostname), str(data_folder), str(version), int(started_unix_s))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Reads what `as_dict` gave.

        Raises:
            KeyError, TypeError, ValueError: A field is missing or of the wrong type.
        """
        hostname, data_folder, version = (str(values[name]) for name in ("hostname", "data_folder", "version"))
        return cls(hostname, data_folder, version, int(values["started_unix_s"]))

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return asdict(self)

    @property
    def key(self) -> str:
        """A name for a file of this server's, the same after a restart and an upgrade."""
        return hashlib.sha256(f"{self.hostname}\0{self.data_folder}".encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """What people know it by, and `key`: the same whatever port or socket leads to it, after a restart too."""
        return f"{self.hostname}-{self.key}"

    def is_of(self, other: Self) -> bool:
        """Whether it is the same server, be it started anew; behind one address may be another one by now."""
        return self.key == other.key

    def restarted_since(self, other: Self) -> bool:
        """Whether it has been started anew since it was `other`, so that it has forgotten what was set.

        Another server has never known it.
        """
        return not self.is_of(other) or abs(self.started_unix_s - other.started_unix_s) > ROUNDING_S

    def __str__(self) -> str:
        return f"MariaDB {self.version} in {self.data_folder} on {self.hostname}"


@dataclass(frozen=True, slots=True)
class ServerReached:
    """The server that answers and the way to it: what every command says first of one that it has connected to.

    Attributes:
        identity: Which one it is.
        address: Where it was asked for: `db1:3306`, or the path of a socket.
        extra_port: Where it is looked at and set, on its extra port; None where that is the address.
    """

    identity: ServerIdentity
    address: str
    extra_port: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """What is known, fit for JSON."""
        return {**self.identity.as_dict(), "address": self.address, "extra_port": self.extra_port}

    def __str__(self) -> str:
        beside = "" if self.extra_port is None else f" and its extra port {self.extra_port}"
        return f"{self.identity}, at {self.address}{beside}"
