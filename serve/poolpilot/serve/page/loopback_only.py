"""Answers only what a browser on this host asks of this host, and tells browsers to load nothing from elsewhere.

A page of somebody else whose name resolves to 127.0.0.1 (DNS rebinding) asks with that name in the header Host.
"""

from collections.abc import Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from poolpilot.serve.service.refusals.problem import Problem

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})

METHODS = ("GET", "HEAD")

SECURITY_HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}


class LoopbackOnly:
    """ASGI middleware, outside all others.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, or refuses it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(SECURITY_HEADERS)
            await send(message)

        refused = refusal_of_request(scope)
        await (self._app if refused is None else refused.response())(scope, receive, guarded)


def refusal_of_request(scope: Scope) -> Problem | None:
    """The refusal of a request that is not for this page; None where it is."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) != 1 or not is_loopback(hosts[0].decode("latin-1")):
        said = "this page answers on loopback alone: ask for it as http://127.0.0.1, localhost or [::1]"
        return Problem("not_loopback", said)
    if scope["method"] not in METHODS:
        said = "this page changes nothing: it answers GET and HEAD"
        return Problem("no_such_method", said, headers={"Allow": ", ".join(METHODS)})
    return None


def is_loopback(host: str) -> bool:
    """Whether a header Host names this host, with whatever port: a tunnel may have another one."""
    name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
    if not name:
        name, port = host, ""
    return name.lower() in LOOPBACK_HOSTS and (port == "" or (port.isascii() and port.isdigit()))
