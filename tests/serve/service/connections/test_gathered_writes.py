"""What is written between two turns of the event loop goes out in one piece, and nothing is lost at the end."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from poolpilot.models.advice.prediction import Predictor
from poolpilot.serve.service.connections.gathered_writes import GatheredWrites


class Taken(asyncio.Transport):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []
        self.ended = ""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.pieces.append(bytes(data))

    def close(self) -> None:
        self.ended = "closed"

    def abort(self) -> None:
        self.ended = "aborted"

    def is_closing(self) -> bool:
        return bool(self.ended)


def run(script: Callable[[GatheredWrites], None]) -> Taken:
    """Writes in one turn of an event loop; what went on after the next one."""
    taken = Taken()

    async def turns() -> None:
        script(GatheredWrites(taken, asyncio.get_running_loop(), 5.0))
        await asyncio.sleep(0)

    asyncio.run(turns())
    return taken


def test_pieces_of_one_turn_are_one() -> None:
    def script(transport: GatheredWrites) -> None:
        for piece in (b"head", b"body", b""):
            transport.write(piece)

    assert run(script).pieces == [b"headbody"]


def test_nothing_is_written_for_nothing() -> None:
    assert run(lambda transport: transport.write(b"")).pieces == []


def test_turns_are_kept_apart() -> None:
    taken = Taken()

    async def turns() -> None:
        transport = GatheredWrites(taken, asyncio.get_running_loop(), 5.0)
        for piece in (b"first", b"second"):
            transport.write(piece)
            await asyncio.sleep(0)

    asyncio.run(turns())
    assert taken.pieces == [b"first", b"second"]


@pytest.mark.parametrize(("end", "pieces"), [("close", [b"last words"]), ("abort", [])])
def test_end_comes_after_the_last_words_or_at_once(end: str, pieces: list[bytes]) -> None:
    def script(transport: GatheredWrites) -> None:
        transport.write(b"last words")
        getattr(transport, end)()

    taken = run(script)
    assert (taken.pieces, taken.ended[:5]) == (pieces, {"close": "close", "abort": "abort"}[end])


def test_client_that_reads_nothing_has_its_time_once_it_is_over() -> None:
    taken = Taken()

    async def turns() -> None:
        GatheredWrites(taken, asyncio.get_running_loop(), 0.01).close()
        assert taken.ended == "closed"
        while taken.ended != "aborted":
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(turns(), 30.0))


def test_answer_comes_in_one_piece(serving: Callable[..., Any], predictor: Predictor) -> None:
    with serving(predictor).connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n")
        assert b'"status":"ok"' in connection.recv(65_536)


def test_nobody_is_waited_for_once_the_connection_is_gone() -> None:
    """Before, a timer kept the buffers of every connection that the service had closed for ten seconds more."""
    taken = Taken()

    async def turns() -> None:
        transport = GatheredWrites(taken, asyncio.get_running_loop(), 0.01)
        transport.close()
        transport.lost()
        await asyncio.sleep(0.05)

    asyncio.run(turns())
    assert taken.ended == "closed"
