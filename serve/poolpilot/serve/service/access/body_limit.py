"""A limit on the size of request bodies, counted as they arrive: Starlette has none of its own."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from poolpilot.serve.service.refusals.problem import Problem


class BodyLimit:
    """ASGI middleware that refuses a body as soon as it exceeds the limit, whatever its headers claim.

    Args:
        app: The application behind it.
        limit_bytes: Largest body accepted.
    """

    def __init__(self, app: ASGIApp, limit_bytes: int) -> None:
        self._app = app
        self._limit_bytes = limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on and counts what arrives.

        Raises:
            Problem: The body is too large.
        """
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limit_bytes:
                raise Problem("too_large", f"the body exceeds {self._limit_bytes} bytes")
            return message

        await self._app(scope, counted, send)
