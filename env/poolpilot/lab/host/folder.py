"""What lies where in a test server's folder."""

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

LONGEST_SOCKET_PATH = 107
"""Bytes that a Unix socket's address holds."""

EARLIER = ("s.sock", "mariadbd.pid")
"""What earlier versions left beside the data."""


@dataclass(frozen=True, slots=True)
class LabFolder:
    """The paths of a test server.

    What is written by root lies at the top, where the server's own account may not write.

    Attributes:
        top: The folder.
    """

    top: Path

    @property
    def data(self) -> Path:
        """The server's data."""
        return self.top / "data"

    @property
    def unfinished(self) -> Path:
        """Data that are being installed."""
        return self.top / "data.new"

    @property
    def files(self) -> Path:
        """The only folder whose files a statement may read or write."""
        return self.top / "files"

    @property
    def temporary(self) -> Path:
        """Where the server puts its temporary files."""
        return self.top / "tmp"

    @property
    def socket(self) -> Path:
        """The server's Unix socket."""
        return self.data / "s.sock"

    @property
    def first_statements(self) -> Path:
        """What the server runs before it answers anybody; gone once it has."""
        return self.data / "poolpilot-first.sql"

    @property
    def loaded(self) -> Path:
        """A mark that the data set is there whole: a load that was cut short begins anew."""
        return self.data / "poolpilot-loaded"

    @property
    def settings(self) -> Path:
        """What the test server was made with."""
        return self.top / "lab-settings.json"

    @property
    def state(self) -> Path:
        """The server that runs."""
        return self.top / "lab.json"

    @property
    def lock(self) -> Path:
        """Keeps two programs apart."""
        return self.top / "lock"

    @property
    def root_file(self) -> Path:
        """Defaults file of the administrator, mode 0600."""
        return self.top / "root.cnf"

    @property
    def tuner_file(self) -> Path:
        """Defaults file of the tuner, mode 0600."""
        return self.top / "client.cnf"

    @property
    def load_file(self) -> Path:
        """File that tells a sysbench where the server is and who asks, mode 0600."""
        return self.top / "load.cnf"

    @property
    def error_log(self) -> Path:
        """What the server says."""
        return self.top / "error.log"

    @property
    def install_log(self) -> Path:
        """What the installation of the data said."""
        return self.top / "install.log"

    @property
    def slow_disk(self) -> Path:
        """The delays of a slow disk."""
        return self.top / "slow-disk"

    @property
    def too_long(self) -> bool:
        """Whether the socket's path does not fit into its address."""
        return len(os.fsencode(self.socket)) > LONGEST_SOCKET_PATH

    def remove(self) -> None:
        """Deletes all of it, and the folder if nothing else is in it."""
        for tree in (self.data, self.unfinished, self.files, self.temporary):
            shutil.rmtree(tree, ignore_errors=True)
        ours = (self.settings, self.state, self.lock, self.root_file, self.tuner_file, self.load_file)
        logs = (self.error_log, self.install_log, self.slow_disk)
        for file in (*ours, *logs, *(self.top / name for name in EARLIER)):
            file.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.top.rmdir()
