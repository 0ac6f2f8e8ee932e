"""TLS of a connection, which counts as one of the service's from the first byte on.

asyncio tells a protocol of its connection once the handshake is over. Until then nobody would count it, and whoever
opens sockets and sends nothing would have as many as the process has descriptors.
"""

import asyncio
import ssl
from asyncio.sslproto import SSLProtocol
from typing import Any, cast

from typing_extensions import override

from poolpilot.serve.service.connections.connection import Connection


class Handshake(SSLProtocol):
    """The TLS below a connection.

    Args:
        loop: The event loop.
        connection: The connection.
        context: Certificate, and the authorities of clients.
        timeout_s: Time that a client has for the handshake.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, connection: Connection, context: ssl.SSLContext, timeout_s: float
    ) -> None:
        nobody_waits: Any = None  # the stubs of asyncio want a future, and whole seconds; asyncio does not
        super().__init__(
            loop, connection, context, nobody_waits, server_side=True, ssl_handshake_timeout=cast("int", timeout_s)
        )
        self._connection: Connection | None = connection

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._connection is not None:
            self._connection.accepted(transport)

    @override
    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        if self._connection is not None:
            self._connection.left()
            self._connection = None  # a cycle would keep its buffers until the next collection
