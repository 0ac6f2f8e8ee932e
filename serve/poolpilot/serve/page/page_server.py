"""The page on a port of loopback: in the foreground, or beside a tuner in a thread that ends with it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from poolpilot.serve.page.followed_servers import FollowedServers
from poolpilot.serve.page.page_application import create_page
from poolpilot.serve.service.http_server import HttpServer, Patience, listening_socket

if TYPE_CHECKING:
    from poolpilot.serve.page.play.playground import Playground

LOOPBACK = "127.0.0.1"

PATIENCE = Patience(header_s=10.0, grace_s=1.0)

ENDS_WITHIN_S = 5.0


class PageServer:
    """Serves the page for all logs in a folder.

    Args:
        folder: The folder.
        port: Where on loopback; 0 is any that is free.
        option: What chose the port, for the sentence that names it.
        plays: Whether recorded profiles are simulated for who asks.

    Attributes:
        url: Where a browser finds it.

    Raises:
        ServerError: The port cannot be had.
    """

    def __init__(self, folder: Path, port: int, option: str = "--port", *, plays: bool = False) -> None:
        self._listener = listening_socket(LOOPBACK, port, f"name another with {option}")
        self.url = f"http://{LOOPBACK}:{self._listener.getsockname()[1]}/"
        self._servers = FollowedServers(folder)
        self._server = HttpServer(create_page(self._servers, _playground() if plays else None), PATIENCE)

    def run(self) -> None:
        """Serves until it is interrupted or ended."""
        try:
            self._server.run(self._listener)
        finally:
            self._servers.close()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serves from a thread for the duration of the block; whatever becomes of the thread, the block goes on."""
        thread = threading.Thread(target=self.run, name="page", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._server.end()
            thread.join(ENDS_WITHIN_S)


def _playground() -> "Playground":
    from poolpilot.serve.page.play.playground import Playground  # a tuner's page needs no simulator

    return Playground()
