"""`POST /v1/predict`: a body of windows, an answer with the configuration to set."""

import json

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
from poolpilot.serve.service.service_settings import ServeSettings
from poolpilot.serve.service.watch.service_metrics import ServiceMetrics

_LOG = structlog.get_logger(__name__)

_ENCODER = json.JSONEncoder(allow_nan=False)


class PredictionEndpoint:
    """Predicts between two turns of the event loop: that takes less time than a thread would cost.

    Args:
        advisor: What answers.
        metrics: Where answers are counted.
        limits: Size and time of a body.
    """

    def __init__(self, advisor: Advisor, metrics: ServiceMetrics, limits: ServeSettings) -> None:
        self._advisor, self._metrics, self._limits = advisor, metrics, limits

    async def answer(self, request: Request) -> Response:
        """Answers one request.

        Raises:
            Problem: It is refused.
        """
        query = PredictionQuery.of(request.query_params)
        return Response(self._predict(await json_body(request, self._limits), query), media_type="application/json")

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
