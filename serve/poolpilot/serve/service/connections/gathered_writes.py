"""Head and body of an answer in one piece: one system call, one packet, one record of TLS."""

import asyncio
from typing import Any

from typing_extensions import override


class GatheredWrites(asyncio.Transport):
    """A transport that hands on what was written when the event loop comes round.

    Args:
        transport: What everything goes to.
        loop: Its event loop.
        linger_s: Time that a client has to read what is left once the connection is closed.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, linger_s: float) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._linger_s = linger_s
        self._held: list[bytes] = []
        self._lingering: asyncio.TimerHandle | None = None

    @override
    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._held:
            self._loop.call_soon(self._hand_on)
        self._held.append(bytes(data))

    @override
    def close(self) -> None:
        if not self._transport.is_closing():
            self._lingering = self._loop.call_later(self._linger_s, self._transport.abort)
        self._hand_on()
        self._transport.close()

    @override
    def abort(self) -> None:
        self._held.clear()
        self._transport.abort()

    def lost(self) -> None:
        """Waits for no client any more: the connection is gone. A timer that waited would keep its buffers."""
        if self._lingering is not None:
            self._lingering.cancel()

    @override
    def is_closing(self) -> bool:
        return self._transport.is_closing()

    @override
    def pause_reading(self) -> None:
        self._transport.pause_reading()

    @override
    def resume_reading(self) -> None:
        self._transport.resume_reading()

    @override
    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def _hand_on(self) -> None:
        data = b"".join(self._held)
        self._held.clear()
        if data and not self._transport.is_closing():
            self._transport.write(data)
