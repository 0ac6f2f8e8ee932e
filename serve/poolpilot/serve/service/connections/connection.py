"""A connection to the service: headers and reading in time, and when there are too many the longest idle one gives way.

Over TLS it is one from the moment it is accepted: a handshake that never comes takes a descriptor like any other.

uvicorn times out what is idle between two requests, not what never sends its first one whole nor what reads no answer,
and its only limit on connections makes every answer 503, that of the health check too. The parser is h11, which uvicorn
brings along.
"""

import asyncio
from typing import ClassVar, cast

import h11
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from poolpilot.serve.service.connections.gathered_writes import GatheredWrites
from poolpilot.serve.service.refusals.problem import MEDIA_TYPE, Problem
from poolpilot.serve.service.watch.service_metrics import OTHER_PATHS, ServiceMetrics


class Connection(H11Protocol):
    """uvicorn's connection with these limits; `connection_class` sets them.

    Attributes:
        header_timeout_s: Time a client has to send the headers of a request.
        read_timeout_s: Time a client may leave answers unread once they fill the socket, or the connection is closed.
        most: Connections open at once.
        metrics: Where what is no HTTP is counted; None counts nothing.
    """

    header_timeout_s: ClassVar[float]
    read_timeout_s: ClassVar[float]
    most: ClassVar[int]
    metrics: ClassVar[ServiceMetrics | None] = None

    _idle_since_s = 0.0
    _header_timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None
    _gathered: GatheredWrites | None = None

    def accepted(self, transport: asyncio.Transport) -> None:
        """Counts from now on, over this transport, though its handshake is still to come."""
        self.transport = transport
        self.connections.add(self)
        self._idle_since_s = self.loop.time()
        self._make_room()

    def left(self) -> None:
        """Counts no more: its socket is closed, be it in the middle of the handshake."""
        self.connections.discard(self)

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._gathered = GatheredWrites(transport, self.loop, self.read_timeout_s)
        super().connection_made(self._gathered)
        self._idle_since_s = self.loop.time()
        self._make_room()
        self._watch_headers()

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch_headers()

    @override
    def send_400_response(self, msg: str) -> None:
        """Refuses what is no HTTP; uvicorn would do so in plain text. What is answered already is only ended."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        problem = Problem("bad_http", msg)
        if self.metrics is not None:
            self.metrics.refused(problem.reason)
            self.metrics.answered(OTHER_PATHS, problem.status, 0.0)
        headers = [(b"content-type", MEDIA_TYPE.encode()), (b"connection", b"close")]
        answer = h11.Response(status_code=problem.status, headers=headers, reason=problem.status.phrase.encode())
        for event in (answer, h11.Data(data=problem.content()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    @override
    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread_timer = self.loop.call_later(self.read_timeout_s, self.transport.abort)

    @override
    def resume_writing(self) -> None:
        self._stop_waiting()
        super().resume_writing()

    @override
    def on_response_complete(self) -> None:
        self._idle_since_s = self.loop.time()
        super().on_response_complete()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        self._stop_waiting()
        super().connection_lost(exc)
        if self._gathered is not None:
            self._gathered.lost()

    @property
    def _idle(self) -> bool:
        """Whether no request is being answered: its headers are not whole, or what comes is the rest of its body."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def _watch_headers(self) -> None:
        """Bounds the time until headers are whole, however slowly they drip in."""
        if not self._idle:
            self._stop_watching()
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(self.header_timeout_s, self.transport.close)

    def _stop_watching(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _stop_waiting(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _make_room(self) -> None:
        """Ends a connection when there are too many: one that is closing, else the longest idle one.

        That is this one, where all others are being answered.
        """
        if len(self.connections) > self.most:
            ours = [one for one in self.connections if isinstance(one, Connection) and one._may_give_way]
            gives_way = min(ours, key=lambda one: (not one.transport.is_closing(), one._idle_since_s))
            gives_way.left()  # at once, so that of many that are accepted in one turn each makes room for itself
            gives_way.transport.abort()

    @property
    def _may_give_way(self) -> bool:
        return self._idle or self.transport.is_closing()


def connection_class(
    header_s: float, read_s: float, most_open: int, watched_by: ServiceMetrics | None = None
) -> type[Connection]:
    """Connections with limits.

    Args:
        header_s: Time a client has to send the headers of a request.
        read_s: Time a client may leave answers unread.
        most_open: Connections open at once.
        watched_by: Where what is no HTTP is counted; None counts nothing.
    """

    class LimitedConnection(Connection):
        header_timeout_s = header_s
        read_timeout_s = read_s
        most = most_open
        metrics = watched_by

    return LimitedConnection
