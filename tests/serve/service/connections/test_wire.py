"""The bytes of a connection over a transport that a test holds: what waits for whom, and for how long."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from poolpilot.serve.service.connections.wire import MOST_HELD, Wire


class Taken(asyncio.Transport):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.told.append(f"writes {len(data)}")

    def close(self) -> None:
        self.told.append("closes")

    def abort(self) -> None:
        self.told.append("aborts")

    def is_closing(self) -> bool:
        return "closes" in self.told or "aborts" in self.told

    def pause_reading(self) -> None:
        self.told.append("pauses")

    def resume_reading(self) -> None:
        self.told.append("resumes")


def told(script: Callable[[Wire], Awaitable[None]], read_s: float = 0.01) -> list[str]:
    """What a transport is told over a script."""
    taken = Taken()

    async def run() -> None:
        wire = Wire(read_s)
        wire.connection_made(taken)
        await asyncio.wait_for(script(wire), 30.0)

    asyncio.run(run())
    return taken.told


def test_who_reads_nothing_has_its_time_once_the_connection_is_closed() -> None:
    assert told(lambda wire: wire.close()) == ["closes", "aborts"]


def test_who_reads_nothing_has_its_time_while_answers_wait() -> None:
    async def unread(wire: Wire) -> None:
        wire.pause_writing()
        await wire.write(b"answer")
        await wire.write(b"another")

    assert told(unread) == ["writes 6", "aborts"]


def test_who_reads_again_is_answered_on() -> None:
    async def read_late(wire: Wire) -> None:
        wire.pause_writing()
        asyncio.get_running_loop().call_later(0.01, wire.resume_writing)
        await wire.write(b"answer")
        await wire.write(b"another")

    assert told(read_late, read_s=30.0) == ["writes 6", "writes 7"]


def test_nobody_is_waited_for_once_the_connection_is_gone() -> None:
    async def gone(wire: Wire) -> None:
        asyncio.get_running_loop().call_soon(wire.connection_lost, None)
        wire.pause_writing()
        await wire.write(b"answer")
        await wire.close()
        with pytest.raises(ConnectionResetError):
            await wire.read()

    assert "aborts" not in told(gone, read_s=30.0)[:-1], "but for the last word, that a transport hears in vain"


def test_what_nobody_wants_yet_is_held_up_to_a_limit_and_given_before_the_end() -> None:
    async def flooded(wire: Wire) -> None:
        wire.data_received(b"a" * MOST_HELD)
        wire.data_received(b"b")
        wire.eof_received()
        assert await wire.read() == b"a" * MOST_HELD + b"b"
        with pytest.raises(ConnectionResetError):
            await wire.read()

    assert told(flooded) == ["pauses", "resumes"]
