"""The description of the service for programs (OpenAPI 3.1), given out where a setting asks for it."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from poolpilot.models.body import MOST_FORBIDDEN
from poolpilot.serve.service.prediction_query import TUPLE
from poolpilot.serve.service.refusals.problem import MEDIA_TYPE, REASONS

TEXT: dict[str, Any] = {"type": "string"}
OBJECT: dict[str, Any] = {"type": "object"}

REQUEST_BODY: dict[str, Any] = {
    "type": "object",
    "required": ["windows", "limits"],
    "properties": {
        "windows": {"type": "array", "minItems": 1, "maxItems": 16, "items": OBJECT},
        "limits": OBJECT,
        "objective": OBJECT,
    },
}

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

OUTCOME: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "server_id", "propensity", "model_digest", "verdict", "request"],
    "properties": {
        "id": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,64}$"},
        "server_id": {"type": "string", "minLength": 1, "maxLength": 128},
        "propensity": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "model_digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "verdict": {"enum": ["kept", "taken back", "not tried"]},
        "request": REQUEST_BODY,
    },
}

PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "reason"],
    "properties": {
        "type": TEXT,
        "title": TEXT,
        "status": {"type": "integer"},
        "detail": TEXT,
        "reason": {"enum": list(REASONS)},
        "field": TEXT,
    },
}


def _answers(*statuses: int, media_type: str = "application/json") -> dict[str, Any]:
    refused = {"description": "a problem document", "content": {MEDIA_TYPE: {"schema": PROBLEM}}}
    done = {str(status): {"description": "done", "content": {media_type: {}}} for status in statuses}
    return {"responses": {**done, "default": refused}}


def _taking(schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "PoolPilot", "version": "1"},
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    "security": [{"token": []}, {}],
    "paths": {
        "/v1/predict": {"post": {"parameters": [TRIALS, FORBIDDEN], **_taking(REQUEST_BODY), **_answers(200)}},
        "/v1/outcomes": {"post": {**_taking(OUTCOME), **_answers(200, 201)}},
        "/v1/model": {"get": _answers(200), "post": _answers(200)},
        "/healthz": {"get": _answers(200)},
        "/readyz": {"get": _answers(200)},
        "/metrics": {"get": _answers(200, media_type="text/plain")},
    },
}


async def openapi(_request: Request) -> Response:
    """`GET /openapi.json`."""
    return JSONResponse(DOCUMENT)
