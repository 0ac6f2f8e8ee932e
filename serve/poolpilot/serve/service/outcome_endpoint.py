"""`POST /v1/outcomes`: what became of a prediction, on disk before it is acknowledged."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from poolpilot.errors import StoreError, TakenNameError
from poolpilot.models.prediction_request import RequestError
from poolpilot.serve.service.json_body import as_problem, json_body, parsed
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.outcomes.reported_outcome import ReportedOutcome
from poolpilot.serve.service.refusals.problem import Problem
from poolpilot.serve.service.service_settings import ServeSettings
from poolpilot.serve.service.watch.service_metrics import ServiceMetrics

_LOG = structlog.get_logger(__name__)


class OutcomeEndpoint:
    """Appends in one thread of its own, so that nobody else waits for the disk.

    Args:
        log: Where outcomes are kept; None where they are not.
        metrics: Where reports are counted.
        limits: Size and time of a body.
    """

    def __init__(self, log: OutcomeLog | None, metrics: ServiceMetrics, limits: ServeSettings) -> None:
        self._log = log
        self._metrics = metrics
        self._limits = limits
        self._thread = ThreadPoolExecutor(1, "outcomes")

    async def answer(self, request: Request) -> Response:
        """Answers one report: 201 where it was written, 200 where it was there already.

        Raises:
            Problem: It is refused, or could not be kept.
        """
        raw = await json_body(request, self._limits)
        if self._log is None:
            raise Problem("keeps_no_outcomes", "this service keeps no outcomes; start it with --outcomes FOLDER")
        written = await asyncio.get_running_loop().run_in_executor(self._thread, self._keep, self._log, raw)
        self._metrics.reported(written=written)
        return JSONResponse({"status": "appended" if written else "repeated"}, 201 if written else 200)

    def _keep(self, log: OutcomeLog, raw: bytes) -> bool:
        try:
            return log.append(ReportedOutcome.from_json(parsed(raw)))
        except RequestError as error:
            raise as_problem(error) from error
        except TakenNameError as error:
            raise Problem("taken_id", str(error), "body.id") from error
        except StoreError as error:
            _LOG.error("an outcome was not kept", error=str(error))
            raise Problem("storage", str(error)) from error
