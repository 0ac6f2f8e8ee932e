"""A limit on the requests in work at once, from which those that watch the service are exempt."""

from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from poolpilot.serve.service.refusals.problem import Problem


class RequestLimit:
    """ASGI middleware that refuses whatever comes while enough requests are in work.

    Args:
        app: The application behind it.
        most: Requests in work at once.
        exempt: Paths that are always answered: a load balancer must not take a busy service for a dead one.
    """

    def __init__(self, app: ASGIApp, most: int, exempt: Collection[str]) -> None:
        self._app = app
        self._most = most
        self._exempt = exempt
        self._in_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on.

        Raises:
            Problem: Enough are in work.
        """
        if scope["type"] != "http" or scope["path"] in self._exempt:
            await self._app(scope, receive, send)
            return
        if self._in_work >= self._most:
            raise Problem("busy", headers={"Retry-After": "1"})
        self._in_work += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_work -= 1
