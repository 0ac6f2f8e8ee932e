"""Which server the parts of a DSN led to when a command last set something there, beside the journals on this host.

The same words may lead to another server: an option file was changed, an address was switched over, a container was
made anew. Who sets anything asks first.
"""

import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from poolpilot.durability.durable_writes import write_durably
from poolpilot.env.tuning.identity import ServerIdentity
from poolpilot.errors import JournalError
from poolpilot.mariadb.restoration.journal import path_of


@dataclass(frozen=True, slots=True)
class KnownServer:
    """What is known of the server of a DSN.

    Attributes:
        folder: Folder of the journals.
        asked: The DSN; nothing is known where it is empty, of a server that was not reached by one.
    """

    folder: Path
    asked: str

    def other_than(self, server: ServerIdentity) -> str:
        """That the DSN led to another server before, as a sentence; empty where it did not, or nobody knows."""
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            known, command = ServerIdentity.from_dict(kept["server"]), str(kept["command"])
            set_s = time.localtime(float(kept["set_unix_s"]))
        except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
            return ""
        if not self.asked or server.is_of(known):
            return ""
        when = time.strftime("%Y-%m-%d %H:%M:%S", set_s)
        left = ", where that has ended without a restore" if path_of(self.folder, known).exists() else ""
        return f"{self.asked} led to {known} for the {command} of {when}{left}, and leads to {server} now"

    def note(self, server: ServerIdentity, command: str) -> None:
        """Notes that a command sets the server.

        Raises:
            JournalError: It cannot be written.
        """
        if not self.asked:
            return
        kept = {"asked": self.asked, "server": server.as_dict(), "command": command, "set_unix_s": time.time()}
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_durably(self.path, f"{json.dumps(kept)}\n".encode())
        except OSError as error:
            raise JournalError(f"cannot write to {self.path} ({error.strerror}): nothing is set") from error

    @property
    def path(self) -> Path:
        """Its file, by a name that no journal has."""
        return self.folder / f"known-{hashlib.sha256(os.fsencode(self.asked)).hexdigest()[:16]}.json"
