"""Where a client ends that reads some option files: which of a few listeners it comes to."""

import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from poolpilot.errors import ServerError, SettingError
from poolpilot.lab.host.programs import program
from poolpilot.mariadb.login.dsn import Dsn
from poolpilot.mariadb.option_files import client_defaults
from poolpilot.mariadb.session import Session

NOWHERE, REFUSED = "nowhere", "refused"
CLIENTS_OWN = ("MARIADB_HOME", "MYSQL_HOME", "MARIADB_GROUP_SUFFIX", "MYSQL_GROUP_SUFFIX", "MYSQL_HOST")


@dataclass
class Ends:
    """Listeners that let everybody in and say nothing: two sockets, two ports of 127.0.0.1 and one of 127.0.0.2.

    Attributes:
        folder: Where the sockets and the files are.
        ports: Ports by name: tcp, tcp2, other.
        came: Who was come to.
    """

    folder: Path
    ports: dict[str, int] = field(default_factory=dict)
    came: list[str] = field(default_factory=list)
    _listeners: list[socket.socket] = field(default_factory=list)

    def open(self) -> None:
        for name in ("one", "two"):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(self.folder / f"{name}.sock"))
            self._listen(listener, name)
        for name, host in (("tcp", "127.0.0.1"), ("tcp2", "127.0.0.1"), ("other", "127.0.0.2")):
            listener = socket.socket()
            listener.bind((host, 0))
            self.ports[name] = listener.getsockname()[1]
            self._listen(listener, name)

    def close(self) -> None:
        for listener in self._listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            listener.close()

    def filled(self, text: bytes) -> bytes:
        """A text with folder and ports in the places that are kept for them."""
        for name, port in self.ports.items():
            text = text.replace(f"<{name}>".encode(), str(port).encode())
        return text.replace(b"<d>", bytes(self.folder))

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.filled(text if isinstance(text, bytes) else text.encode()))
            path.chmod(0o600)

    def of_client(self, arguments: Sequence[str]) -> str:
        """Where `mariadb` ends."""
        named = [self.filled(argument.encode()).decode() for argument in arguments]
        command = [program("mariadb"), *named, "--execute=SELECT 1", "--connect-timeout=2"]
        self.came.clear()
        subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return self.came[0] if self.came else NOWHERE

    def of_ours(self, dsn: str) -> str:
        """Where a session of ours ends."""
        self.came.clear()
        try:
            account = Dsn.parse(self.filled(dsn.encode()).decode()).account()
        except SettingError as error:
            return REFUSED if str(error).isprintable() else "refused in bytes that no terminal shows"
        with suppress(ServerError):
            Session(account).close()
        return self.came[0] if self.came else NOWHERE

    def _listen(self, listener: socket.socket, name: str) -> None:
        listener.listen(8)
        self._listeners.append(listener)
        threading.Thread(target=self._let_in, args=(listener, name), daemon=True).start()

    def _let_in(self, listener: socket.socket, name: str) -> None:
        with suppress(OSError):
            while True:
                came, _ = listener.accept()
                self.came.append(name)
                came.close()


@pytest.fixture
def ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ends]:
    """Listeners in the folder that is at home and at work, without the socket of a server that this host may have."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in (*CLIENTS_OWN, "MYSQL_TCP_PORT", "MYSQL_UNIX_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(client_defaults, "KNOWN_SOCKETS", (tmp_path / "nobody.sock",))
    opened = Ends(tmp_path)
    opened.open()
    yield opened
    opened.close()
