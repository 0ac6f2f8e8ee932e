"""The servers whose logs lie in a folder, each followed from when it is first asked for."""

import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from poolpilot.errors import StoreError
from poolpilot.serve.page.log_tail import shown_path
from poolpilot.serve.page.server_history import ServerHistory
from poolpilot.serve.tuner.decision_log import NAME

MOST_SERVERS = 64
"""The page shows those that were written last."""

READ_FOR_S = 2.0
"""Seconds for which logs are read that were not read before; there is one at least."""

ALONE = "."
"""Key of a server whose log lies in the folder itself."""


class FollowedServers:
    """Follows all logs in a folder, in itself and one level below.

    Args:
        folder: The folder; there may be nothing in it yet.

    Attributes:
        left_out: Servers that are too many to be followed.
    """

    def __init__(self, folder: Path) -> None:
        self.left_out = 0
        self._folder = folder
        self._histories: dict[str, ServerHistory] = {}
        self._lock = threading.Lock()

    @contextmanager
    def followed(self) -> Iterator[list[ServerHistory]]:
        """Servers as they are now, the one that was written last first; nobody else follows them meanwhile.

        Where reading long logs for the first time takes too long, the rest is left for the next time. A log that cannot
        be read is a problem of its server alone.
        """
        with self._lock:
            self._look_around()
            ends_s = time.monotonic() + READ_FOR_S
            told, begun = [], 0
            for history in self._histories.values():
                if history.begun or begun == 0 or time.monotonic() < ends_s:
                    begun += not history.begun
                    with suppress(StoreError):
                        history.follow()
                    told.append(history)
            yield told

    @contextmanager
    def one(self, key: str | None) -> Iterator[ServerHistory | None]:
        """One server as it is now, or None where there is no such one; the one written last where none is named.

        Raises:
            StoreError: Its log cannot be read.
        """
        with self._lock:
            self._look_around()
            found = self._histories.get(key) if key is not None else next(iter(self._histories.values()), None)
            if found is not None:
                found.follow()
            yield found

    def close(self) -> None:
        """Lets go of all logs."""
        with self._lock:
            for history in self._histories.values():
                history.close()
            self._histories = {}

    def _look_around(self) -> None:
        """Takes up logs that are new, lets go of those that are gone, and puts the one written last first."""
        found = self._logs()
        self.left_out = max(len(found) - MOST_SERVERS, 0)
        histories: dict[str, ServerHistory] = {}
        for key, folder in found[:MOST_SERVERS]:
            histories[key] = self._histories.pop(key) if key in self._histories else ServerHistory(key, folder)
        for gone in self._histories.values():
            gone.close()
        self._histories = histories

    def _logs(self) -> list[tuple[str, Path]]:
        """Keys and folders of the logs that there are, the one written last first."""
        written: list[tuple[float, str, Path]] = []
        for path in (self._folder / NAME, *self._folder.glob(f"*/{NAME}")):
            key = shown_path(path.parent.name) if path.parent != self._folder else ALONE
            with suppress(OSError):  # between two files, or of somebody else
                status = path.stat()
                if stat.S_ISREG(status.st_mode):
                    written.append((status.st_mtime, key, path.parent))
        return [(key, folder) for _, key, folder in sorted(written, reverse=True)]
