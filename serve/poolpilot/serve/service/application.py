"""The prediction service: `POST /v1/predict` and `GET /healthz` over one predictor."""

import asyncio
import json
from typing import Any

import structlog
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from poolpilot.errors import FeatureError, SettingError
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.models.prediction_request import RequestError, parse
from poolpilot.models.predictor import Predictor
from poolpilot.serve.service.body_limit import BodyLimit
from poolpilot.serve.service.request_limit import RequestLimit
from poolpilot.serve.service.service_settings import ServeSettings

UNAVAILABLE = "unavailable: keep what is"
HEALTH = "/healthz"

_LOG = structlog.get_logger(__name__)


def create_app(predictor: Predictor, settings: ServeSettings | None = None) -> FastAPI:
    """Builds the service.

    A refused request is answered 4xx and names the field; any other failure is 503, which always means that the
    client leaves its server as it is.

    Args:
        predictor: What answers; called from a worker thread.
        settings: Limits of the service.
    """
    limits = settings or ServeSettings()
    app = FastAPI(title="PoolPilot", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(BodyLimit, limit_bytes=limits.body_limit_bytes)
    busy = JSONResponse({"detail": UNAVAILABLE}, 503)
    app.add_middleware(RequestLimit, most=limits.concurrency_limit, exempt={HEALTH}, refusal=busy)
    app.exception_handler(RequestError)(_refuse)
    app.exception_handler(Exception)(_unavailable)

    @app.head(HEALTH)
    @app.get(HEALTH)
    async def healthz() -> dict[str, Any]:
        return {"status": "ok", "schema_version": SCHEMA_VERSION}

    @app.post("/v1/predict")
    async def predict(request: Request) -> Response:
        asked = parse(await _json_body(request, limits.body_timeout_s))
        try:
            prediction = await run_in_threadpool(predictor.predict, *asked)
        except FeatureError as error:
            raise RequestError(("body", error.feature), str(error)) from error
        except SettingError as error:
            raise RequestError(("body", "limits"), str(error)) from error
        if not prediction.keeps:
            asked.limits.check(prediction.pool_tuple)
        _LOG.info("predicted", pool_tuple=str(prediction.pool_tuple), abstained=prediction.abstained)
        return JSONResponse(prediction.as_dict() | {"schema_version": SCHEMA_VERSION})

    return app


async def _json_body(request: Request, timeout_s: float) -> bytes:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "the body must be application/json")
    try:
        async with asyncio.timeout(timeout_s):
            return await request.body()
    except TimeoutError as error:
        raise HTTPException(408, f"the body did not arrive within {timeout_s:g} s") from error
    except ClientDisconnect as error:
        raise HTTPException(400, "the client left before its body was whole") from error


async def _refuse(_request: Request, error: RequestError) -> Response:
    detail = [{"loc": list(error.location), "msg": error.message}]
    # Escaped, because a field's name as the client spelled it need not be encodable.
    return Response(json.dumps({"detail": detail}), 422, media_type="application/json")


async def _unavailable(_request: Request, error: Exception) -> Response:
    _LOG.error("prediction failed", error=repr(error))
    return JSONResponse({"detail": UNAVAILABLE}, 503)
