"""What the metrics say after a few requests; their labels never grow with what clients send."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.watch.service_metrics import PATHS

Labels = dict[str, str]


@pytest.fixture
def client(predictor: Any) -> TestClient:
    return TestClient(create_app(predictor))


def value(client: TestClient, name: str, **labels: str) -> float | None:
    """The sample of a metric with these labels and no others."""
    response = client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(response.text)
    samples = [sample for family in families for sample in family.samples]
    found = [sample.value for sample in samples if (sample.name, dict(sample.labels)) == (name, labels)]
    return found[0] if found else None


def test_answers_are_counted_by_path_and_status_and_timed(client: TestClient, request_values: dict[str, Any]) -> None:
    for _ in range(2):
        client.post("/v1/predict", json=request_values)
    client.post("/v1/predict", json={})
    assert value(client, "poolpilot_requests_total", path="/v1/predict", status="200") == 2.0
    assert value(client, "poolpilot_requests_total", path="/v1/predict", status="422") == 1.0
    assert value(client, "poolpilot_request_seconds_count", path="/v1/predict") == 3.0
    assert value(client, "poolpilot_predictions_total", server_kind="native", verdict="change") == 2.0


def test_refusals_are_counted_by_reason(client: TestClient) -> None:
    assert value(client, "poolpilot_refusals_total", reason="media_type") == 0.0
    client.post("/v1/predict", content=b"{}")
    client.get("/nowhere")
    client.put("/healthz")
    assert value(client, "poolpilot_refusals_total", reason="media_type") == 1.0
    assert value(client, "poolpilot_refusals_total", reason="no_such_path") == 1.0
    assert value(client, "poolpilot_refusals_total", reason="no_such_method") == 1.0


def test_outcomes_are_counted(predictor: Any, outcome_values: dict[str, Any], tmp_path: Path) -> None:
    with OutcomeLog(tmp_path, 2**30) as log:
        client = TestClient(create_app(predictor, outcomes=log))
        for _ in range(3):
            client.post("/v1/outcomes", json=outcome_values)
        assert value(client, "poolpilot_outcomes_total", result="appended") == 1.0
        assert value(client, "poolpilot_outcomes_total", result="repeated") == 2.0


def test_paths_of_clients_make_no_series(client: TestClient) -> None:
    before = len(client.get("/metrics").text.splitlines())
    for number in range(50):
        client.get(f"/v1/{number}")
    assert value(client, "poolpilot_requests_total", path="other", status="404") == 50.0
    assert len(client.get("/metrics").text.splitlines()) - before < 40


def test_every_path_of_the_service_is_counted_by_its_name(predictor: Any) -> None:
    application = create_app(predictor)
    assert {getattr(route, "path", "") for route in application.router.routes} == PATHS


def test_busy_service_still_tells(serving: Callable[..., Any], predictor: Any, request_values: Any) -> None:
    import httpx2

    service = serving(predictor, concurrency_limit=1)
    with service.in_work(request_values) as finish:
        assert httpx2.post(f"{service.url}/v1/predict", json=request_values).status_code == 503
        assert 'poolpilot_refusals_total{reason="busy"} 1.0' in httpx2.get(f"{service.url}/metrics").text
        assert finish().startswith(b"HTTP/1.1 200 ")
