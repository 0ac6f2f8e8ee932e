"""A limit on the requests in work at once, from which a health check is exempt."""

from collections.abc import Collection

from starlette.types import ASGIApp, Receive, Scope, Send


class RequestLimit:
    """ASGI middleware that has `refusal` answer whatever comes while enough requests are in work.

    Args:
        app: The application behind it.
        most: Requests in work at once.
        exempt: Paths that are always answered: a load balancer must not take a busy service for a dead one.
        refusal: What answers in place of the application.
    """

    def __init__(self, app: ASGIApp, most: int, exempt: Collection[str], refusal: ASGIApp) -> None:
        self._app = app
        self._most = most
        self._exempt = exempt
        self._refusal = refusal
        self._in_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it."""
        if scope["type"] != "http" or scope["path"] in self._exempt:
            await self._app(scope, receive, send)
        elif self._in_work >= self._most:
            await self._refusal(scope, receive, send)
        else:
            self._in_work += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._in_work -= 1
