"""Lets in who holds a token of the right scope, does not ask too often, and not more than can be in work at once."""

import ipaddress
import math
from collections.abc import Collection, Hashable, Mapping

from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asked

from poolpilot.serve.service.access.bearer_tokens import BearerTokens, Scope
from poolpilot.serve.service.access.token_buckets import TokenBuckets
from poolpilot.serve.service.refusals.problem import Problem, no_such_path

OPEN = frozenset({"/healthz", "/readyz"})
"""Paths that anybody may ask at any rate: a load balancer has no token."""

WATCHING = OPEN | {"/metrics"}
"""Paths that are answered however much is in work: nobody must take a busy service for a dead one."""

SCOPES: Mapping[tuple[str, str], Scope] = {
    ("POST", "/v1/predict"): "predict",
    ("POST", "/v1/outcomes"): "outcomes",
    ("POST", "/v1/model"): "admin",
}
"""The scope that a path needs, where there are tokens; the others take any token."""

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="poolpilot"'}

BITS_OF_A_SITE = 64
"""Of an address of IPv6: what is beyond is one client's own to choose."""


class Doorkeeper:
    """ASGI middleware that asks for a bearer token, where there are any, and holds clients to their rate and number.

    Without tokens a client is an address. So is one that shows none that is known: who guesses is held to a rate too.

    Args:
        app: The application behind it.
        tokens: Who may what.
        buckets: What holds a client to its rate.
        most: Requests in work at once.
        paths: All paths, letter for letter: what a router would take for one of them besides is none.
    """

    def __init__(
        self, app: ASGIApp, tokens: BearerTokens, buckets: TokenBuckets, most: int, paths: Collection[str]
    ) -> None:
        self._app, self._tokens, self._buckets, self._most, self._paths = app, tokens, buckets, most, paths
        self._in_work = 0

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        """Passes a request on.

        Raises:
            Problem: It is refused.
        """
        if scope["type"] == "http" and scope["path"] not in OPEN:
            self._admit(scope)
            if scope["path"] not in self._paths:
                raise no_such_path()
        if scope["type"] != "http" or scope["path"] in WATCHING:
            await self._app(scope, receive, send)
            return
        if self._in_work >= self._most:
            raise Problem("busy", headers={"Retry-After": "1"})
        self._in_work += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._in_work -= 1

    def _admit(self, scope: Asked) -> None:
        shown = _bearer(scope)
        found = None if shown is None else self._tokens.scopes_of(shown)
        self._hold_to_rate(_site(scope) if found is None else found[0])
        if not self._tokens.needed:
            _refuse_pages(scope)
            return
        if shown is None:
            raise Problem("no_token", "this path needs 'Authorization: Bearer TOKEN'", headers=CHALLENGE)
        if found is None:
            headers = {"WWW-Authenticate": f'{CHALLENGE["WWW-Authenticate"]}, error="invalid_token"'}
            raise Problem("unknown_token", "the service does not know this token", headers=headers)
        needed = SCOPES.get((scope["method"], scope["path"]))
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
