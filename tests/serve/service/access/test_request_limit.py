"""The limit on requests in work: above it the service says so, and the health check does not notice."""

from collections.abc import Callable
from typing import Any

import httpx2

from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.serve.service.refusals.problem import UNAVAILABLE


def test_busy_service_refuses_and_is_healthy(
    serving: Callable[..., Any], predictor: Any, request_values: dict[str, Any]
) -> None:
    service = serving(predictor, concurrency_limit=1)
    url = f"{service.url}/v1/predict"
    with service.in_work(request_values) as finish:
        refused = httpx2.post(url, json=request_values)
        document = refused.json()
        assert (refused.status_code, document["detail"], document["reason"]) == (503, UNAVAILABLE, "busy")
        assert refused.headers["retry-after"] == "1"
        health = httpx2.get(f"{service.url}/healthz")
        assert (health.status_code, health.json()) == (200, {"status": "ok", "schema_version": SCHEMA_VERSION})
        assert finish().startswith(b"HTTP/1.1 200 ")
    assert httpx2.post(url, json=request_values).status_code == 200


def test_failed_requests_give_their_place_back(
    serving: Callable[..., Any], tellable: Callable[..., Any], request_values: dict[str, Any]
) -> None:
    service = serving(tellable(error=RuntimeError("weights are gone")), concurrency_limit=1)
    for _ in range(3):
        httpx2.post(f"{service.url}/v1/predict", json=request_values)
        assert httpx2.post(f"{service.url}/v1/predict", content=b"{}").status_code == 415
