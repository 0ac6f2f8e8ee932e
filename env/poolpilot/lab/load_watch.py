"""What a test server does under a load that is sent by hand, as one window."""

from dataclasses import dataclass

from poolpilot.featurizer.snapshot import Snapshot
from poolpilot.featurizer.window import Window
from poolpilot.mariadb.server.mariadb_server import MariadbServer


@dataclass
class LoadWatch:
    """Reads a server now and then; whenever somebody changes the tuple, its window begins anew.

    Attributes:
        server: The server, with the load as its reporting clients.
    """

    server: MariadbServer
    _first: Snapshot | None = None
    _last: Snapshot | None = None

    def observe(self) -> None:
        """Reads it once.

        Raises:
            ServerError: The server or a client is gone.
        """
        seen = self.server.snapshot()
        if self._first is None or self._first.tuple_epoch != seen.tuple_epoch:
            self._first = seen
        self._last = seen

    @property
    def window(self) -> Window | None:
        """From the first reading under the latest tuple to the last one; None before there are two."""
        if self._first is None or self._last is None or self._first is self._last:
            return None
        return Window.between(self._first, self._last)
