"""Lets in who holds a token of the right scope and does not ask too often."""

import ipaddress
import math
from collections.abc import Collection, Hashable, Mapping

from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asked

from poolpilot.serve.service.access.bearer_tokens import Scope
from poolpilot.serve.service.access.known_tokens import KnownTokens
from poolpilot.serve.service.access.token_buckets import TokenBuckets
from poolpilot.serve.service.refusals.problem import Problem, no_such_path

OPEN = frozenset({"/healthz", "/readyz"})
"""Paths that anybody may ask at any rate: a load balancer has no token."""

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="poolpilot"'}

BITS_OF_A_SITE = 64
"""Of an address of IPv6: what is beyond is one client's own to choose."""


class Doorkeeper:
    """ASGI middleware that asks for a bearer token, where there are any, and holds every client to its rate.

    Without tokens a client is an address. So is one that shows none that is known: who guesses is held to a rate too.

    Args:
        app: The application behind it.
        known: Who may what.
        buckets: What holds a client to its rate.
        scopes: The scope that a path needs, by method and path; any token will do for one that is not there.
        paths: All paths, letter for letter: what a router would take for one of them besides is none.
    """

    def __init__(
        self,
        app: ASGIApp,
        known: KnownTokens,
        buckets: TokenBuckets,
        scopes: Mapping[tuple[str, str], Scope],
        paths: Collection[str],
    ) -> None:
        self._app = app
        self._known = known
        self._buckets = buckets
        self._scopes = scopes
        self._paths = paths

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        """Passes a request on.

        Raises:
            Problem: It is refused.
        """
        if scope["type"] == "http" and scope["path"] not in OPEN:
            self._admit(scope)
            if scope["path"] not in self._paths:
                raise no_such_path()
        await self._app(scope, receive, send)

    def _admit(self, scope: Asked) -> None:
        tokens = self._known.tokens
        shown = None if tokens is None else _bearer(scope)
        found = tokens.scopes_of(shown) if tokens is not None and shown is not None else None
        self._hold_to_rate(_site(scope) if found is None else found[0])
        if tokens is None:
            _refuse_pages(scope)
            return
        if shown is None:
            raise Problem("no_token", "this path needs 'Authorization: Bearer TOKEN'", headers=CHALLENGE)
        if found is None:
            headers = {"WWW-Authenticate": f'{CHALLENGE["WWW-Authenticate"]}, error="invalid_token"'}
            raise Problem("unknown_token", "the service does not know this token", headers=headers)
        needed = self._scopes.get((scope["method"], scope["path"]))
        if needed is not None and needed not in found[1]:
            raise Problem("wrong_scope", f"this path needs a token of the scope {needed!r}")

    def _hold_to_rate(self, client: Hashable) -> None:
        wait_s = self._buckets.wait_s(client)
        if wait_s > 0.0:
            whole_s = math.ceil(wait_s)
            detail = f"too many requests: ask again in {whole_s} s, and keep what is until then"
            raise Problem("too_many_requests", detail, headers={"Retry-After": str(whole_s)})


def _refuse_pages(scope: Asked) -> None:
    """Refuses what a page in a browser sends, which always names its origin; without tokens it might be anybody's.

    A page of somebody else reaches loopback from the browser of whoever looks at it, also by a name of its own.
    """
    if scope["method"] == "POST" and any(name == b"origin" for name, _ in scope["headers"]):
        raise Problem(
            "from_a_page", "without tokens no page in a browser is answered: start the service with a token file"
        )


def _bearer(scope: Asked) -> str | None:
    """The token that a request shows; None where it shows none, or more than one."""
    shown = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(shown) != 1:
        return None
    kind, _, token = shown[0].decode("latin-1").partition(" ")
    return token.strip() if kind.lower() == "bearer" and token.strip() else None


def _site(scope: Asked) -> str:
    """Who asks without a token: an address, of IPv6 the network of one site."""
    client = scope.get("client")
    host = client[0] if client else ""
    if ":" not in host:
        return str(host)
    try:
        return str(ipaddress.ip_network((host.partition("%")[0], BITS_OF_A_SITE), strict=False))
    except ValueError:
        return str(host)
