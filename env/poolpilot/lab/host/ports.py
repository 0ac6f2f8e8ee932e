"""TCP ports on loopback."""

import socket

from poolpilot.errors import ServerError

LOOPBACK = "127.0.0.1"


def free_or_checked(port: int | None) -> int:
    """A free port, or the one named if it can be used.

    Raises:
        ServerError: It is in use, or not allowed.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port or 0))
        except OSError as error:
            raise ServerError(
                f"port {port} cannot be used ({error.strerror}); name another, or none for a free one"
            ) from error
        return int(probe.getsockname()[1])
