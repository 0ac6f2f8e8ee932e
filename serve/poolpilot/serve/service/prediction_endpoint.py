"""`POST /v1/predict`: a body of windows, an answer with the configuration to set."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import structlog
from starlette.requests import Request
from starlette.responses import Response

from poolpilot.errors import FeatureError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.models.advisor.advisor import Advisor, Purpose
from poolpilot.models.body import MOST_FORBIDDEN, place_of
from poolpilot.models.champion import model_for
from poolpilot.models.prediction_request import RequestError, checked
from poolpilot.serve.service.json_body import as_problem, json_body, parsed
from poolpilot.serve.service.refusals.problem import Problem, bad_parameter, check_names
from poolpilot.serve.service.service_settings import ServeSettings
from poolpilot.serve.service.watch.service_metrics import ServiceMetrics

_LOG = structlog.get_logger(__name__)

_ENCODER = json.JSONEncoder(allow_nan=False)


TRIALS = "trials"
"""The parameter by which a tuner says that it measures what is named, and goes back."""

FORBIDDEN = "forbidden"
"""The parameter for a tuple that whoever asks may not set: size, oversubscribe, stall limit."""

TUPLE = re.compile("[0-9]{1,9}(,[0-9]{1,9}){2}")

PURPOSES = {"true": Purpose.TRIAL, "false": Purpose.ADVICE}

Permits = Callable[[PoolTuple], bool]


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
        query = request.query_params
        check_names(query, (TRIALS, FORBIDDEN))
        purpose, permits = _purpose(query.getlist(TRIALS)), _permits(query.getlist(FORBIDDEN))
        content = self._predict(await json_body(request, self._limits), purpose, permits)
        return Response(content, media_type="application/json")

    def _predict(self, raw: bytes, purpose: Purpose, permits: Permits | None) -> bytes:
        found = parsed(raw)
        place = ".".join(("body", *place_of(found)))
        try:
            asked = checked(found)
            model_for(asked.windows[-1].server_kind)
            within = asked.limits if permits is None else replace(asked.limits, permits=permits)
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


def _purpose(said: Sequence[str]) -> Purpose:
    if len(said) > 1 or not PURPOSES.keys() >= {*said}:
        raise bad_parameter(TRIALS, f"{TRIALS} may be {' or '.join(PURPOSES)}, once")
    return PURPOSES[said[0]] if said else Purpose.ADVICE


def _permits(said: Sequence[str]) -> Permits | None:
    """What may be named; None where nothing is forbidden."""
    if len(said) > MOST_FORBIDDEN or not all(map(TUPLE.fullmatch, said)):
        allowed = f"SIZE,OVERSUBSCRIBE,STALL_LIMIT in whole numbers, {MOST_FORBIDDEN} times at most"
        raise bad_parameter(FORBIDDEN, f"{FORBIDDEN} may be {allowed}")
    forbidden = {tuple(map(int, one.split(","))) for one in said}
    return (lambda named: named.core not in forbidden) if forbidden else None
