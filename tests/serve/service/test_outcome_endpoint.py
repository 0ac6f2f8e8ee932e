"""`POST /v1/outcomes`: acknowledged once it is on disk, refused in a document where it is not."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from poolpilot.errors import StoreError
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.outcomes.outcome_segments import read_outcomes
from poolpilot.serve.service.refusals.problem import UNAVAILABLE

OUTCOMES = "/v1/outcomes"

Reported = Callable[..., Any]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[OutcomeLog]:
    with OutcomeLog(tmp_path, 2**30) as log:
        yield log


@pytest.fixture
def client(predictor: Any, log: OutcomeLog) -> TestClient:
    return TestClient(create_app(predictor, outcomes=log))


def test_report_is_kept_and_a_repeat_acknowledged(
    client: TestClient, outcome_values: dict[str, Any], tmp_path: Path
) -> None:
    first = client.post(OUTCOMES, json=outcome_values)
    assert (first.status_code, first.json()) == (201, {"status": "appended"})
    again = client.post(OUTCOMES, json=outcome_values)
    assert (again.status_code, again.json()) == (200, {"status": "repeated"})
    assert [outcome.as_dict()["server_id"] for outcome in read_outcomes(tmp_path)] == [outcome_values["server_id"]]


def test_another_report_under_a_known_id_is_refused(
    client: TestClient, outcome_values: dict[str, Any], tmp_path: Path
) -> None:
    assert client.post(OUTCOMES, json=outcome_values).status_code == 201
    refused = client.post(OUTCOMES, json={**outcome_values, "verdict": "rolled back", "propensity": 1})
    assert (refused.status_code, refused.headers["content-type"]) == (409, "application/problem+json")
    document = refused.json()
    assert (document["status"], document["reason"], document["field"]) == (409, "taken_id", "body.id")
    assert client.post(OUTCOMES, json=outcome_values).json() == {"status": "repeated"}
    assert [outcome.verdict for outcome in read_outcomes(tmp_path)] == ["kept"]


def test_bad_report_is_refused_by_its_field_and_not_kept(
    client: TestClient, outcome_values: dict[str, Any], tmp_path: Path
) -> None:
    outcome_values["propensity"] = 2
    refused = client.post(OUTCOMES, json=outcome_values)
    assert (refused.status_code, refused.json()["field"]) == (422, "body.propensity")
    assert client.post(OUTCOMES, content=b"{", headers={"content-type": "application/json"}).status_code == 422
    assert client.post(OUTCOMES, content=b"{}").status_code == 415
    assert list(read_outcomes(tmp_path)) == []


def test_full_disk_is_unavailable(
    client: TestClient, log: OutcomeLog, outcome_values: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object) -> bool:
        raise StoreError("the outcome cannot be kept: No space left on device; report it again later")

    monkeypatch.setattr(log, "append", full)
    refused = client.post(OUTCOMES, json=outcome_values)
    assert (refused.status_code, refused.json()["reason"]) == (503, "storage")
    assert refused.json()["detail"].startswith(UNAVAILABLE)
    assert "No space left" in refused.json()["detail"]
    monkeypatch.undo()
    assert client.post(OUTCOMES, json=outcome_values).status_code == 201


def test_service_that_keeps_none_says_so(predictor: Any, outcome_values: dict[str, Any]) -> None:
    refused = TestClient(create_app(predictor)).post(OUTCOMES, json=outcome_values)
    assert (refused.status_code, refused.json()["reason"]) == (404, "keeps_no_outcomes")
    assert "--outcomes" in refused.json()["detail"]
