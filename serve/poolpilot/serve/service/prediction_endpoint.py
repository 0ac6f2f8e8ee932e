"""`POST /v1/predict`: a body of windows, an answer with the configuration to set."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import structlog
from starlette.requests import Request
from starlette.responses import Response

from poolpilot.errors import FeatureError, SettingError
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.body import place_of
from poolpilot.models.champion import model_for
from poolpilot.models.prediction_request import RequestError, checked
from poolpilot.serve.service.json_body import as_problem, json_body, parsed
from poolpilot.serve.service.prediction_query import PredictionQuery
from poolpilot.serve.service.refusals.problem import Problem
from poolpilot.serve.service.watch.service_metrics import ServiceMetrics

_LOG = structlog.get_logger(__name__)

_ENCODER = json.JSONEncoder(allow_nan=False)


class PredictionEndpoint:
    """Predicts in one thread of its own, or at once where that takes no longer than to hand it over and back.

    Args:
        advisor: What answers.
        metrics: Where answers are counted.
        body_timeout_s: Time a client has to send its body.
        in_thread: Whether the connections are served meanwhile.
    """

    def __init__(self, advisor: Advisor, metrics: ServiceMetrics, body_timeout_s: float, *, in_thread: bool) -> None:
        self._advisor = advisor
        self._metrics = metrics
        self._body_timeout_s = body_timeout_s
        self._thread = ThreadPoolExecutor(1, "predictions") if in_thread else None

    async def answer(self, request: Request) -> Response:
        """Answers one request.

        Raises:
            Problem: It is refused.
        """
        query = PredictionQuery.of(request.query_params)
        raw = await json_body(request, self._body_timeout_s)
        if self._thread is None:
            content = self._predict(raw, query)
        else:
            content = await asyncio.get_running_loop().run_in_executor(self._thread, self._predict, raw, query)
        return Response(content, media_type="application/json")

    def _predict(self, raw: bytes, query: PredictionQuery) -> bytes:
        purpose = Purpose.TRIAL if query.trials else Purpose.ADVICE
        found = parsed(raw)
        place = ".".join(("body", *place_of(found)))
        try:
            asked = checked(found)
            model_for(asked.windows[-1].server_kind)
            within = query.within(asked.limits)
            prediction = self._advisor.rank(asked.windows, within, asked.objective, purpose, most=1).first
        except RequestError as error:
            raise as_problem(error) from error
        except FeatureError as error:  # of the kind of server, which all windows share
            raise Problem("bad_field", str(error), f"{place}.windows.0.{error.feature}") from error
        except SettingError as error:
            raise Problem("bad_field", str(error), f"{place}.limits") from error
        if not prediction.keeps:
            asked.limits.check(prediction.pool_tuple)
        content = _ENCODER.encode(prediction.as_dict() | {"schema_version": SCHEMA_VERSION}).encode()
        self._metrics.predicted(asked.windows[-1].server_kind, prediction.verdict)
        _LOG.debug("predicted", pool_tuple=str(prediction.pool_tuple), verdict=prediction.verdict)
        return content
