"""The description of the service for programs (OpenAPI 3.1), given out where a setting asks for it."""

from typing import Any, get_args

from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from poolpilot.models.advice.prediction import Prediction, Verdict
from poolpilot.models.body import MOST_FORBIDDEN
from poolpilot.serve.service.prediction_query import TUPLE
from poolpilot.serve.service.refusals.problem import MEDIA_TYPE, REASONS
from poolpilot.serve.service.request_schema import REFERENCE, holding, referring, request_schemas
from poolpilot.serve.service.state_endpoints import ModelsInForce

TEXT: dict[str, Any] = {"type": "string"}

INTEGER: dict[str, Any] = {"type": "integer"}

TRIALS: dict[str, Any] = {
    "name": "trials",
    "in": "query",
    "description": "Whether who asks measures what is named, and goes back.",
    "schema": {"type": "boolean", "default": False},
}

FORBIDDEN: dict[str, Any] = {
    "name": "forbidden",
    "in": "query",
    "description": "Configurations SIZE,OVERSUBSCRIBE,STALL_LIMIT that who asks may not set, so that others are named.",
    "schema": {
        "type": "array",
        "maxItems": MOST_FORBIDDEN,
        "items": {"type": "string", "pattern": f"^{TUPLE}$"},
    },
}

PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "reason"],
    "properties": {
        "type": TEXT,
        "title": TEXT,
        "status": INTEGER,
        "detail": TEXT,
        "reason": {"enum": list(REASONS)},
        "field": TEXT,
    },
}


def _prediction() -> tuple[dict[str, Any], dict[str, Any]]:
    """The schema of a prediction, and those that it refers to."""
    schema = TypeAdapter(Prediction).json_schema(ref_template=REFERENCE)
    parts = schema.pop("$defs")
    beside: dict[str, Any] = {
        "keeps": {"type": "boolean"},
        "verdict": {"enum": list(get_args(Verdict))},
        "schema_version": INTEGER,
    }
    return holding({**schema["properties"], **beside}), parts


def _schemas() -> dict[str, Any]:
    prediction, parts = _prediction()
    models = TypeAdapter(ModelsInForce).json_schema(ref_template=REFERENCE)
    return request_schemas() | parts | {"Prediction": prediction, "ModelsInForce": models, "Problem": PROBLEM}


def _answers(*statuses: int, schema: dict[str, Any], media_type: str = "application/json") -> dict[str, Any]:
    refused = {"description": "a problem document", "content": {MEDIA_TYPE: {"schema": referring("Problem")}}}
    done = {str(status): {"description": "done", "content": {media_type: {"schema": schema}}} for status in statuses}
    return {"responses": {**done, "default": refused}}


def _saying(*statuses: str, **beside: dict[str, Any]) -> dict[str, Any]:
    return holding({"status": {"enum": list(statuses)}, **beside})


def _taking(name: str) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": referring(name)}}}}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "PoolPilot", "version": "1"},
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}, "schemas": _schemas()},
    "security": [{"token": []}, {}],
    "paths": {
        "/v1/predict": {
            "post": {
                "parameters": [TRIALS, FORBIDDEN],
                **_taking("Request"),
                **_answers(200, schema=referring("Prediction")),
            }
        },
        "/v1/outcomes": {"post": {**_taking("Outcome"), **_answers(200, 201, schema=_saying("appended", "repeated"))}},
        "/v1/model": {method: _answers(200, schema=referring("ModelsInForce")) for method in ("get", "post")},
        "/healthz": {"get": _answers(200, schema=_saying("ok", schema_version=INTEGER))},
        "/readyz": {"get": _answers(200, schema=_saying("ready", schema_version=INTEGER))},
        "/metrics": {"get": _answers(200, schema=TEXT, media_type="text/plain")},
    },
}


async def openapi(_request: Request) -> Response:
    """`GET /openapi.json`."""
    return JSONResponse(DOCUMENT)
