"""What the service says of itself: alive, ready, its models, its metrics; and that its models are loaded again."""

import time

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from poolpilot.errors import ArtefactError, PoolPilotError
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.serve.service.refusals.problem import Problem
from poolpilot.serve.service.renewal import Renewal
from poolpilot.serve.service.watch.service_metrics import MEDIA_TYPE, ServiceMetrics

_LOG = structlog.get_logger(__name__)

CHECKED_FOR_S = 10.0
"""Time for which models that were found sound are not checked again."""


class StateEndpoints:
    """The endpoints beside those for predictions and outcomes.

    Args:
        advisor: What answers.
        renewal: Loads models and tokens again.
        metrics: What is told of the service.
    """

    def __init__(self, advisor: Advisor, renewal: Renewal, metrics: ServiceMetrics) -> None:
        self._advisor = advisor
        self._sound_until_s = 0.0
        self._renewal = renewal
        self._metrics = metrics

    async def health(self, _request: Request) -> Response:
        """`GET /healthz`: the process lives."""
        return JSONResponse({"status": "ok", "schema_version": SCHEMA_VERSION})

    async def readiness(self, _request: Request) -> Response:
        """`GET /readyz`: the models are loaded and answer what they did when they were saved.

        Raises:
            Problem: One does not.
        """
        try:
            if time.monotonic() >= self._sound_until_s:
                self._advisor.model.check()
                self._sound_until_s = time.monotonic() + CHECKED_FOR_S
        except ArtefactError as error:
            _LOG.error("not ready", error=str(error))
            raise Problem("not_ready", "a model does not answer what it did when it was saved") from error
        return JSONResponse({"status": "ready", "schema_version": SCHEMA_VERSION})

    async def model(self, request: Request) -> Response:
        """`GET /v1/model`: digests of what answers. `POST` loads models and tokens again from where they came from.

        Raises:
            Problem: Something could not be loaded and is as it was.
        """
        if request.method == "POST":
            if self._renewal.under_way:  # loading takes seconds of a processor: nobody has it done twice at once
                raise Problem("busy", "the models are being loaded again", headers={"Retry-After": "5"})
            try:
                await run_in_threadpool(self._renewal.run)
            except PoolPilotError as error:
                raise Problem("reload_failed", str(error)) from error
        advisor = self._advisor
        in_force = {
            "models": advisor.model.digests(),
            "loaded_unix_s": advisor.loaded_unix_s,
            "failed_reload": advisor.failure,
            "schema_version": SCHEMA_VERSION,
        }
        return JSONResponse(in_force)

    async def metrics(self, _request: Request) -> Response:
        """`GET /metrics`."""
        return Response(self._metrics.text(), media_type=MEDIA_TYPE)
