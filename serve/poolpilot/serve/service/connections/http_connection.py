"""A connection of a client: its requests one after another, each read in time and answered by an ASGI application."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from http import HTTPStatus
from urllib.parse import unquote

import h11
from starlette.types import ASGIApp, Message, Scope

from poolpilot.serve.service.connections.wire import Wire
from poolpilot.serve.service.refusals.problem import MEDIA_TYPE, Problem

LARGEST_HEAD = 65_536
"""Bytes that the headers of a request may have."""

CLOSE = (b"connection", b"close")


@dataclass(frozen=True)
class ConnectionLimits:
    """What clients may ask of the server's patience.

    Attributes:
        most: Connections open at once.
        header_s: Time for a handshake of TLS, for the headers of a request, and for what is left of a refused body.
        read_s: Time that answers may be left unread.
        keep_alive_s: Time for which a connection is kept between two requests.
        grace_s: Time for requests in work once the server is to end.
    """

    most: int
    header_s: float
    read_s: float
    keep_alive_s: float
    grace_s: float


class HttpConnection:
    """Answers one client.

    Args:
        app: The application.
        limits: The limits.
        refused: Is told of what is no HTTP.

    Attributes:
        wire: Its bytes.
        idle_since_s: Since when it has been of no use, by the clock of the event loop; None while it is answered.
        last: Whether it ends after the request in work.
    """

    def __init__(self, app: ASGIApp, limits: ConnectionLimits, refused: Callable[[Problem], None]) -> None:
        self.wire = Wire(limits.read_s)
        self.idle_since_s: float | None = asyncio.get_running_loop().time()
        self.last = False
        self._app, self._limits, self._refused = app, limits, refused
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=LARGEST_HEAD)
        self._head: h11.Response | None = None

    async def answer_all(self) -> None:
        """Answers until the client has gone, takes too long, or says what is no HTTP."""
        try:
            await self._answer(await self._request())
            while self._goes_on():
                self._http.start_next_cycle()
                await asyncio.sleep(0)  # who sends many requests at once takes turns with everybody else
                await self._first_bytes()
                await self._answer(await self._request())
        except (ConnectionError, TimeoutError):
            pass
        except h11.RemoteProtocolError as error:
            await self._refuse(Problem("bad_http", str(error)))
        await self.wire.close()

    async def _first_bytes(self) -> None:
        """Keeps a connection whose last request is answered until the next one begins."""
        if not self._http.trailing_data[0]:
            async with asyncio.timeout(self._limits.keep_alive_s):
                self._http.receive_data(await self.wire.read())

    async def _request(self) -> h11.Request:
        """The next request, however slowly its headers drip in."""
        async with asyncio.timeout(self._limits.header_s):
            event = await self._event()
        assert isinstance(event, h11.Request)
        return event

    async def _event(self) -> h11.Event:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self._send(h11.InformationalResponse(status_code=HTTPStatus.CONTINUE, headers=[]))
            self._http.receive_data(await self.wire.read())
        assert isinstance(event, h11.Event)  # it pauses only where the next request would begin
        return event

    async def _answer(self, request: h11.Request) -> None:
        """Has the application answer, and reads over what is left of a body that it did not want."""
        self.idle_since_s = None
        try:
            await self._app(self._scope(request), self._received, partial(self._answered, request.method != b"HEAD"))
        except Exception:  # the application has told of it; only this client has no answer
            await self._refuse(Problem("failure"))
        self.idle_since_s = asyncio.get_running_loop().time()
        async with asyncio.timeout(self._limits.header_s):
            while self._http.their_state is h11.SEND_BODY:
                await self._event()

    def _goes_on(self) -> bool:
        return not self.last and self._http.our_state is self._http.their_state is h11.DONE

    def _scope(self, request: h11.Request) -> Scope:
        path, _, query = request.target.partition(b"?")
        told = self.wire.transport.get_extra_info
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": request.http_version.decode("ascii"),
            "scheme": "http" if told("sslcontext") is None else "https",
            "method": request.method.decode("ascii"),
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query,
            "root_path": "",
            "headers": list(request.headers),
            "client": (told("peername") or ())[:2] or None,  # it may have gone again
            "server": told("sockname")[:2],
        }

    async def _received(self) -> Message:
        """ASGI's `receive`.

        Raises:
            Problem: What comes is no HTTP.
        """
        try:
            if self._http.their_state is h11.SEND_BODY:
                event = await self._event()
                data = bytes(event.data) if isinstance(event, h11.Data) else b""
                return {"type": "http.request", "body": data, "more_body": not isinstance(event, h11.EndOfMessage)}
            await self.wire.lost.wait()
        except h11.RemoteProtocolError as error:
            raise Problem("bad_http", str(error)) from error
        except ConnectionError:
            pass
        return {"type": "http.disconnect"}

    async def _answered(self, has_body: bool, message: Message) -> None:
        """ASGI's `send`: the head goes out with the beginning of the body, in one piece."""
        if message["type"] == "http.response.start":
            self._head = self._response(message["status"], list(message["headers"]))
            return
        head, self._head = self._head, None
        body = message.get("body", b"") if has_body else b""
        end = None if message.get("more_body", False) else h11.EndOfMessage()
        await self._send(head, h11.Data(data=body) if body else None, end)

    def _response(self, status: int, headers: list[tuple[bytes, bytes]]) -> h11.Response:
        headers.append((b"date", formatdate(usegmt=True).encode()))
        if self.last or self._http.their_state is h11.ERROR:
            headers.append(CLOSE)
        return h11.Response(status_code=status, headers=headers, reason=HTTPStatus(status).phrase.encode())

    async def _refuse(self, problem: Problem) -> None:
        """Refuses what never reached the application, or what it failed at; what is answered already is only ended."""
        self.last, self._head = True, None
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self._refused(problem)
            head = self._response(problem.status, [(b"content-type", MEDIA_TYPE.encode())])
            await self._send(head, h11.Data(data=problem.content()), h11.EndOfMessage())

    async def _send(self, *events: h11.Event | None) -> None:
        await self.wire.write(b"".join(self._http.send(event) or b"" for event in events if event is not None))
