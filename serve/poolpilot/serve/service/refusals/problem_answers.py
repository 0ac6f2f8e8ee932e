"""Answers every refusal with its problem document; what nobody foresaw is "unavailable"."""

import traceback

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from poolpilot.serve.service.refusals.problem import LONGEST_DETAIL, MEDIA_TYPE, Problem, Reason, no_such_path

_LOG = structlog.get_logger(__name__)

_REFUSAL = "poolpilot.refusal"
"""Key of a request's scope under which the reason of its refusal is left to who counts them."""


class ProblemAnswers:
    """ASGI middleware, outside all others that may refuse.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on and answers what is raised."""
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as error:
            problem = error if isinstance(error, Problem) else unforeseen(error)
            if begun or scope["type"] != "http":
                raise
            scope[_REFUSAL] = problem.reason
            await problem_response(problem)(scope, receive, send)


def refusal_of(scope: Scope) -> Reason | None:
    """Why an answered request was refused; None where it was not."""
    reason: Reason | None = scope.get(_REFUSAL)
    return reason


def problem_response(problem: Problem) -> Response:
    """The answer that carries a problem document."""
    return Response(problem.content(), problem.status, problem.headers, MEDIA_TYPE)


def unforeseen(error: Exception) -> Problem:
    """The refusal that stands for a failure of the service itself; the log has the reason, the client has not.

    The log gets no whole traceback: one with the values of variables would show the tokens of a request.
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    _LOG.error("request failed", error=repr(error)[:LONGEST_DETAIL], where=where)
    return Problem("failure")


async def refuse_route(_request: Request, error: Exception) -> Response:
    """Answers what the routes refuse: an unknown path, or another method."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        raise Problem("no_such_method", f"this path takes {allowed}", headers={"Allow": allowed}) from error
    raise no_such_path() from error
