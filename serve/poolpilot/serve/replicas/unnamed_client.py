"""Requests that come through a proxy on the same host: who asks is not what the proxy says."""

from starlette.types import ASGIApp, Receive, Scope, Send


class UnnamedClient:
    """ASGI middleware that forgets the address of the client.

    Ray's proxy takes it from a header that whoever is on its host may send, and a rate is held by it. All whom no token
    names share one bucket; as the proxy listens on loopback, they have one address anyway.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
        await self._app({**scope, "client": None}, receive, send)
