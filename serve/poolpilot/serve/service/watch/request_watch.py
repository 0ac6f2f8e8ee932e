"""Counts and times every answer, whoever gives it."""

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from poolpilot.serve.service.refusals.problem_answers import refusal_of
from poolpilot.serve.service.watch.service_metrics import ServiceMetrics


class RequestWatch:
    """ASGI middleware, outside what answers refusals.

    Args:
        app: The application behind it.
        metrics: Where it counts.
    """

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_s, status = time.perf_counter(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self._app(scope, receive, noted)
        self._metrics.answered(scope["path"], status, time.perf_counter() - began_s)
        reason = refusal_of(scope)
        if reason is not None:
            self._metrics.refused(reason)
