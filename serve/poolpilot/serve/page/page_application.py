"""The page as an application: its files, what it asks for, health and metrics."""

from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from poolpilot.errors import StoreError
from poolpilot.serve.page.followed_servers import FollowedServers
from poolpilot.serve.page.loopback_only import LoopbackOnly
from poolpilot.serve.page.server_history import ServerHistory, named_apart
from poolpilot.serve.page.tuner_metrics import TunerMetrics
from poolpilot.serve.service.refusals.problem import Problem, bad_parameter, check_names, no_such_path
from poolpilot.serve.tuner.machine.decision import State

if TYPE_CHECKING:
    from poolpilot.serve.page.play.playground import Playground

SCRIPTS = (
    *("page.js", "charts.js", "decisions.js", "elements.js", "feed.js", "server.js", "words.js"),
    *("play.js", "sizes.js"),
)

ASSETS: Mapping[str, str] = {
    "page.html": "text/html; charset=utf-8",
    "play.html": "text/html; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
    **dict.fromkeys(SCRIPTS, "text/javascript; charset=utf-8"),
    "icon.svg": "image/svg+xml",
}
"""Files of the page, and what they are."""

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

NUMBERS = ("after", "before", "limit")
"""Parameters of a question for decisions that are whole numbers."""

MOST_ROWS = 1000
"""Decisions in one answer."""

LARGEST_NUMBER = 2**53
"""A browser counts no further."""


class PageEndpoints:
    """What the page asks for.

    Args:
        servers: Whose decisions it shows.
        plays: Whether it simulates recorded profiles too.
    """

    def __init__(self, servers: FollowedServers, *, plays: bool = False) -> None:
        self._servers = servers
        self._plays = plays

    def overview(self, _: Request) -> Response:
        """`GET /v1/servers`: each server as it is now, the one written last first."""
        with self._servers.followed() as histories:
            servers = [overview_of(name, each) for name, each in named_apart(histories)]
            return JSONResponse({"servers": servers, "left_out": self._servers.left_out, "plays": self._plays})

    def decisions(self, request: Request) -> Response:
        """`GET /v1/decisions`: of one server (`server`) the latest, or those `after` or `before` a number.

        Raises:
            Problem: A parameter is wrong or unknown, or there is no such server.
        """
        check_names(request.query_params, ("server", *NUMBERS))
        after, before, most = (_number(request, name) for name in NUMBERS)
        if after is not None and before is not None:
            raise bad_parameter("before", "ask for what is after a number or before one, not both")
        with self._servers.one(request.query_params.get("server")) as history:
            if history is None:
                raise Problem("no_such_server", "there is no such server: GET /v1/servers lists them")
            most = min(most or MOST_ROWS, MOST_ROWS)
            rows = history.before(before, most) if after is None else history.after(after, most)
            oldest = history.rows[0].number if history.rows else 0
            latest = history.rows[-1].number if history.rows else 0
            values = {"server": history.key, "feed": history.feed, "oldest": oldest, "latest": latest}
            return JSONResponse({**values, "decisions": [row.as_dict() for row in rows]})

    def metrics(self, _: Request) -> Response:
        """`GET /metrics`: for Prometheus."""
        with self._servers.followed() as histories:
            return Response(TunerMetrics(histories).text(), media_type=METRICS_TYPE)

    async def health(self, _: Request) -> Response:
        """`GET /healthz`: the page answers."""
        return JSONResponse({"status": "ok"})


def create_page(servers: FollowedServers, playground: "Playground | None" = None) -> Starlette:
    """Builds the page.

    Args:
        servers: Whose decisions it shows.
        playground: Simulates recorded profiles; None where the processors have better to do.
    """
    endpoints = PageEndpoints(servers, plays=playground is not None)
    routes = [
        Route("/", _file("page.html")),
        *(Route(f"/{name}", _file(name)) for name in ASSETS if name != "page.html"),
        Route("/v1/servers", endpoints.overview),
        Route("/v1/decisions", endpoints.decisions),
        Route("/metrics", endpoints.metrics),
        Route("/healthz", endpoints.health),
        *([] if playground is None else _play_routes(playground)),
    ]
    handlers: Any = {Problem: _refused, HTTPException: _no_such_path, StoreError: _unreadable, Exception: _failed}
    page = Starlette(routes=routes, middleware=[Middleware(LoopbackOnly)], exception_handlers=handlers)
    page.router.redirect_slashes = False
    return page


def _play_routes(playground: "Playground") -> list[Route]:
    from poolpilot.serve.page.play.play_endpoints import play_routes  # a tuner's page needs no simulator

    return play_routes(playground)


def overview_of(name: str, history: ServerHistory) -> dict[str, Any]:
    """A server as it is now, fit for JSON."""
    return {
        "key": history.key,
        "name": name,
        "mode": history.mode,
        "silent_s": history.silent_s(),
        "silent_after_s": history.silent_after_s(),
        "trials": history.entered[State.TRIAL],
        "roll_backs": history.entered[State.ROLL_BACK],
        "stand_downs": history.entered[State.STAND_DOWN],
        "expected_gain": history.expected_gain,
        "expected_low": None if history.asked is None else history.asked.expected_low,
        "expected_high": None if history.asked is None else history.asked.expected_high,
        "lost_requests": history.lost_requests,
        "lost_lines": history.lost_lines,
        "unreadable": history.unreadable,
        "problem": history.problem,
        "latest": None if history.latest is None else history.latest.as_dict(),
    }


def _file(name: str) -> Any:
    content = files("poolpilot.serve.page").joinpath("assets", name).read_bytes()

    async def answer(_: Request) -> Response:
        return Response(content, media_type=ASSETS[name])

    return answer


def _number(request: Request, name: str) -> int | None:
    """A parameter that is a whole number.

    Raises:
        Problem: It is none.
    """
    text = request.query_params.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and int(text) <= LARGEST_NUMBER):
        raise bad_parameter(name, f"{name} is a whole number from 0 to {LARGEST_NUMBER}")
    return int(text)


def _refused(_: Request, error: Problem) -> Response:
    return error.response()


def _no_such_path(_: Request, _error: HTTPException) -> Response:
    return no_such_path("docs/live-page.md").response()


def _unreadable(_: Request, error: StoreError) -> Response:
    return Problem("storage", str(error)).response()


def _failed(_: Request, error: Exception) -> Response:
    """What nobody has foreseen; the traceback goes to the log alone."""
    return Problem("failure", f"the page has failed ({type(error).__name__}): its log says where").response()
