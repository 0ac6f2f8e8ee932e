"""The bytes of one connection, awaited: those that come, and those that go while somebody reads them."""

import asyncio
from contextlib import suppress

from typing_extensions import override

MOST_HELD = 65_536
"""Bytes that may have come before anybody wanted them; beyond them the client waits."""


class Wire(asyncio.Protocol):
    """A transport in the form of coroutines.

    Args:
        read_s: Time that a client may leave answers unread once they fill the socket, or the connection is closed.

    Attributes:
        lost: Set once there is no connection any more.
    """

    def __init__(self, read_s: float) -> None:
        self.lost = asyncio.Event()
        self._read_s = read_s
        self._transport: asyncio.Transport | None = None
        self._held = bytearray()
        self._over = False
        self._arrived, self._writable = asyncio.Event(), asyncio.Event()
        self._writable.set()

    @property
    def transport(self) -> asyncio.Transport:
        """What carries the bytes, after the handshake of TLS."""
        assert self._transport is not None
        return self._transport

    @property
    def closing(self) -> bool:
        """Whether it was closed, though the last bytes may not have gone yet."""
        return self._transport is not None and self._transport.is_closing()

    async def read(self) -> bytes:
        """What has come; waits where nothing has.

        Raises:
            ConnectionResetError: The client has gone.
        """
        while not self._held:
            if self._over:
                raise ConnectionResetError
            self._arrived.clear()
            await self._arrived.wait()
        held = bytes(self._held)
        self._held.clear()
        self.transport.resume_reading()
        return held

    async def write(self, data: bytes) -> None:
        """Sends bytes; ends the connection of who reads none. Of a connection that is lost nobody is told here."""
        if self.closing:
            return
        self.transport.write(data)
        if self._writable.is_set():
            return
        try:
            async with asyncio.timeout(self._read_s):
                await self._writable.wait()
        except TimeoutError:
            self.abort()

    async def close(self) -> None:
        """Ends the connection once the last bytes have gone, or their time is over."""
        self.transport.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._read_s):
                await self.lost.wait()
        self.abort()

    def abort(self) -> None:
        """Ends the connection at once, if there is one."""
        if self._transport is not None:
            self._transport.abort()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        self._held += data
        if len(self._held) > MOST_HELD:
            self.transport.pause_reading()
        self._arrived.set()

    @override
    def eof_received(self) -> None:
        self._over = True
        self._arrived.set()

    @override
    def pause_writing(self) -> None:
        self._writable.clear()

    @override
    def resume_writing(self) -> None:
        self._writable.set()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._over = True
        for event in (self.lost, self._arrived, self._writable):
            event.set()
