"""Answers every refusal with its problem document, and counts and times every answer, whoever gives it."""

import time
import traceback

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from poolpilot.serve.service.refusals.problem import LONGEST_DETAIL, Problem, Reason
from poolpilot.serve.service.watch.service_metrics import ServiceMetrics

_LOG = structlog.get_logger(__name__)


class ProblemAnswers:
    """ASGI middleware, outside all others; what nobody foresaw is "unavailable".

    Args:
        app: The application behind it.
        metrics: Where it counts.
    """

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on and answers what is raised."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0
        reason: Reason | None = None

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        began_s = time.perf_counter()
        try:
            await self._app(scope, receive, noted)
        except Exception as error:
            problem = error if isinstance(error, Problem) else _unforeseen(error)
            if status:  # it is answered already
                raise
            reason = problem.reason
            await problem.response()(scope, receive, noted)
        self._metrics.answered(scope["path"], status, time.perf_counter() - began_s, reason)


def _unforeseen(error: Exception) -> Problem:
    """The refusal that stands for a failure of the service itself; the log has the reason, the client has not.

    The log gets no whole traceback: one with the values of variables would show the tokens of a request.
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    _LOG.error("request failed", error=repr(error)[:LONGEST_DETAIL], where=where)
    return Problem("failure")


async def refuse_method(_request: Request, error: Exception) -> Response:
    """Refuses another method than those of a path; an unknown path comes no further than the doorkeeper."""
    assert isinstance(error, HTTPException)
    allowed = (error.headers or {}).get("Allow", "")
    raise Problem("no_such_method", f"this path takes {allowed}", headers={"Allow": allowed}) from error
