"""Whatever a body holds, it is answered or refused by a document: never a failure of the service."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as draw
from starlette.testclient import TestClient

from poolpilot.models.advisor.advisor import Advisor
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.service_settings import ServeSettings

PATHS = ("/v1/predict", "/v1/outcomes")

NUMBERS = draw.one_of(
    draw.integers(-3, 3),
    draw.sampled_from([2**31, 2**32, 2**53, 2**63, 2**64, 10**30, -(2**63)]),
    draw.floats(),
    draw.sampled_from([5e-324, 1e-6, 0.5, 1e6, 1e12, 1e308]),
)

LEAVES = draw.one_of(draw.none(), draw.booleans(), NUMBERS, draw.text(max_size=80))

VALUES = draw.recursive(
    LEAVES,
    lambda inner: draw.one_of(
        draw.lists(inner, max_size=4), draw.dictionaries(draw.text(max_size=80), inner, max_size=4)
    ),
    max_leaves=12,
)

deterministic = settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A service with the shipped models, which also keeps outcomes."""
    limits = ServeSettings(rate_burst=1_000_000)
    with OutcomeLog(Path(tmp_path_factory.mktemp("outcomes")), 2**30) as log:
        yield TestClient(create_app(Advisor.load(), limits, outcomes=log))


def check_answer(client: TestClient, path: str, body: bytes) -> int:
    response = client.post(path, content=body, headers={"content-type": "application/json"})
    status: int = response.status_code
    if status not in (200, 201):
        document = response.json()
        assert 400 <= status < 500, document
        assert response.headers["content-type"] == "application/problem+json"
        assert (document["status"], len(response.content) < 10_000) == (status, True)
        assert {"type", "title", "detail", "reason"} <= document.keys()
    return status


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to every value inside another."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*before, key)
        yield from places(one, (*before, key))


@given(path=draw.sampled_from(PATHS), body=draw.binary(max_size=300))
@deterministic
def test_bytes(client: TestClient, path: str, body: bytes) -> None:
    assert check_answer(client, path, body) == 422


@given(path=draw.sampled_from(PATHS), value=VALUES)
@deterministic
def test_json(client: TestClient, path: str, value: Any) -> None:
    assert check_answer(client, path, json.dumps(value).encode()) == 422


@given(data=draw.data())
@deterministic
def test_valid_bodies_in_which_something_is_changed(
    client: TestClient, outcome_values: dict[str, Any], request_values: dict[str, Any], data: draw.DataObject
) -> None:
    path = data.draw(draw.sampled_from(PATHS))
    body = copy.deepcopy(request_values if path == "/v1/predict" else outcome_values)
    for _ in range(data.draw(draw.integers(1, 3))):
        *way, last = data.draw(draw.sampled_from(list(places(body))))
        holder = body
        for key in way:
            holder = holder[key]
        change = data.draw(draw.sampled_from(["replace", "delete", "add"]))
        if change == "replace":
            holder[last] = data.draw(VALUES)
        elif change == "delete":
            del holder[last]
        elif isinstance(holder, dict):
            holder[data.draw(draw.text(max_size=80))] = data.draw(VALUES)
    check_answer(client, path, json.dumps(body).encode())


def test_the_changed_bodies_are_valid_before(
    client: TestClient, outcome_values: dict[str, Any], request_values: dict[str, Any]
) -> None:
    assert check_answer(client, "/v1/predict", json.dumps(request_values).encode()) == 200
    assert check_answer(client, "/v1/outcomes", json.dumps(outcome_values).encode()) in (200, 201)
