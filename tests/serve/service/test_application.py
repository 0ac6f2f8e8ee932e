"""The prediction service over HTTP: what it answers, and what it refuses."""

import asyncio
import gzip
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from poolpilot.errors import SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.featurizer.schema import SCHEMA_VERSION, feature_names
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.refusals.problem import UNAVAILABLE
from poolpilot.serve.service.service_settings import ServeSettings

FEATURE = feature_names()[0]

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def client(predictor: Any) -> Iterator[TestClient]:
    settings = ServeSettings(body_limit_bytes=65_536)
    with TestClient(create_app(predictor, settings), raise_server_exceptions=True) as client:
        yield client


def post_text(client: TestClient, text: str | bytes) -> Any:
    return client.post("/v1/predict", content=text, headers={"content-type": "application/json"})


def check_problem(response: Any, status: int, reason: str) -> dict[str, Any]:
    """The document of a refusal, which must be one of RFC 9457."""
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = response.json()
    assert (response.status_code, document["status"], document["reason"]) == (status, status, reason)
    assert document["type"] == f"urn:poolpilot:problem:{reason}"
    assert document["title"]
    assert document["detail"]
    return document


def test_answers_with_everything_a_prediction_says(client: TestClient, request_values: dict[str, Any]) -> None:
    response = client.post("/v1/predict", json=request_values)
    assert response.status_code == 200
    answer = response.json()
    assert answer["pool_tuple"]["pool_size"] == 16
    assert answer["expected_gain"] == pytest.approx(0.3)
    assert (answer["abstained"], answer["verdict"], answer["model_digest"]) == (False, "change", "ab" * 32)
    assert answer["schema_version"] == SCHEMA_VERSION
    assert answer["expires_s"] > 0


def test_predictor_gets_what_the_client_sent(
    client: TestClient, predictor: Any, request_values: dict[str, Any]
) -> None:
    client.post("/v1/predict", json=request_values)
    windows, limits, objective = predictor.asked[0]
    assert windows[0].as_dict() == request_values["windows"][0]
    assert limits.as_dict() == request_values["limits"]
    assert objective.targets_ms == {"read": 50.0}


def test_objective_may_be_left_out(client: TestClient, request_values: dict[str, Any]) -> None:
    del request_values["objective"]
    assert client.post("/v1/predict", json=request_values).status_code == 200


WINDOW_CHANGES: dict[str, tuple[Change, str]] = {
    "feature missing": (lambda window: window["features"].pop(FEATURE), f"features.{FEATURE}"),
    "feature extra": (lambda window: window["features"].update(mystery=1.0), "features.mystery"),
    "feature negative": (lambda window: window["features"].update({FEATURE: -1.0}), f"features.{FEATURE}"),
    "feature is text": (lambda window: window["features"].update({FEATURE: "fast"}), f"features.{FEATURE}"),
    "version wrong": (lambda window: window.update(schema_version=SCHEMA_VERSION + 1), "schema_version"),
    "version missing": (lambda window: window.pop("schema_version"), "schema_version"),
    "field extra": (lambda window: window.update(mood="good"), "mood"),
    "duration zero": (lambda window: window.update(duration_s=0.0), "duration_s"),
    "idle timeout outside the limits": (
        lambda window: window["pool_tuple"].update(idle_timeout_s=2.0**31),
        "pool_tuple.idle_timeout_s",
    ),
    "tuple out of range": (lambda window: window["pool_tuple"].update(pool_size=0), "pool_tuple.pool_size"),
}


@pytest.mark.parametrize(("change", "field"), WINDOW_CHANGES.values(), ids=WINDOW_CHANGES)
def test_refuses_a_bad_window_by_the_name_of_its_field(
    client: TestClient, request_values: dict[str, Any], change: Change, field: str
) -> None:
    change(request_values["windows"][0])
    response = client.post("/v1/predict", json=request_values)
    assert check_problem(response, 422, "bad_field")["field"] == f"body.windows.0.{field}"


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "NaN", "1e999"])
def test_refuses_numbers_that_are_not_finite(
    client: TestClient, predictor: Any, request_values: dict[str, Any], number: str
) -> None:
    request_values["windows"][0]["features"][FEATURE] = "here"
    response = post_text(client, json.dumps(request_values).replace('"here"', number))
    assert number in check_problem(response, 422, "not_json")["detail"]
    assert predictor.asked == []


OBJECTIVES: dict[str, tuple[Any, str]] = {
    "negative price": ({"price_of_thread": -1}, "objective.price_of_thread"),
    "price is text": ({"price_of_thread": "0.5"}, "objective.price_of_thread"),
    "price is true": ({"price_of_thread": True}, "objective.price_of_thread"),
    "target is text": ({"targets_ms": {"read": "50"}}, "objective.targets_ms.read"),
    "weight is true": ({"weights": {"read": True}}, "objective.weights.read"),
    "unknown objective": ({"speed": 1}, "objective.speed"),
    "objective is a list": ([], "objective"),
    "objective is null": (None, "objective"),
}


def with_objective(values: Any) -> Change:
    return lambda body: body.update(objective=values)


def with_a_bad_second_window(body: dict[str, Any]) -> None:
    body["windows"].append({**body["windows"][0], "duration_s": -1})


def without_the_first_knob(body: dict[str, Any]) -> None:
    del body["limits"]["knobs"][0]


BODY_CHANGES: dict[str, tuple[Change, str]] = {
    "no windows": (lambda body: body.update(windows=[]), "windows"),
    "windows missing": (lambda body: body.pop("windows"), "windows"),
    "window is a number": (lambda body: body.update(windows=[3]), "windows.0"),
    "second window bad": (with_a_bad_second_window, "windows.1.duration_s"),
    "limits missing": (lambda body: body.pop("limits"), "limits"),
    "limits are null": (lambda body: body.update(limits=None), "limits"),
    "unknown field": (lambda body: body.update(model="/etc/passwd"), "model"),
    "knob is text": (lambda body: body["limits"]["knobs"][0].update(low="a"), "limits.knobs.0.low"),
    "knob is true": (lambda body: body["limits"]["knobs"][0].update(low=True), "limits.knobs.0.low"),
    "knob without a default": (lambda body: body["limits"]["knobs"][0].update(default=None), "limits.knobs.0.default"),
    "knob is huge": (lambda body: body["limits"]["knobs"][0].update(high=10**400), "limits.knobs.0.high"),
    "knob unknown": (lambda body: body["limits"]["knobs"][0].update(name="x"), "limits.knobs.0.name"),
    "range reversed": (lambda body: body["limits"]["knobs"][0].update(low=9, high=1), "limits.knobs.0"),
    "knob missing": (without_the_first_knob, "limits.knobs"),
    "no processor": (lambda body: body["limits"].update(cpus=0), "limits.cpus"),
    **{name: (with_objective(values), field) for name, (values, field) in OBJECTIVES.items()},
}


@pytest.mark.parametrize("place", ["body", "body.request"])
@pytest.mark.parametrize(("change", "field"), BODY_CHANGES.values(), ids=BODY_CHANGES)
def test_refuses_a_bad_body_by_location(
    client: TestClient, predictor: Any, request_values: dict[str, Any], change: Change, field: str, place: str
) -> None:
    change(request_values)
    sent = request_values if place == "body" else {"request": request_values}
    response = client.post("/v1/predict", json=sent)
    assert check_problem(response, 422, "bad_field")["field"] == f"{place}.{field}"
    assert predictor.asked == []


@pytest.mark.parametrize("body", ["null", "[]", "3", '"text"'])
def test_refuses_a_body_that_is_no_object_as_a_whole(client: TestClient, body: str) -> None:
    assert check_problem(post_text(client, body), 422, "bad_field")["field"] == "body"


@pytest.mark.parametrize("name", ["trails", "Trials", "body", "", "x" * 10_000])
def test_refuses_an_unknown_parameter_by_its_name(
    client: TestClient, predictor: Any, request_values: dict[str, Any], name: str
) -> None:
    response = client.post("/v1/predict", params={name: "true"}, json=request_values)
    document = check_problem(response, 422, "bad_field")
    assert (document["field"], len(response.content) < 1000) == (f"query.{name[:64]}", True)
    assert "trials" in document["detail"]
    assert predictor.asked == []


@pytest.mark.parametrize("core", ["pool_size", "oversubscribe", "timer_interval_ms"])
def test_refuses_limits_without_a_core_knob(client: TestClient, request_values: dict[str, Any], core: str) -> None:
    knobs = request_values["limits"]["knobs"]
    request_values["limits"]["knobs"] = [knob for knob in knobs if knob["name"] != core]
    response = client.post("/v1/predict", json=request_values)
    assert core in check_problem(response, 422, "bad_field")["detail"]


@pytest.mark.parametrize("field", ["targets_ms", "weights", "min_share", "max_p99_ms"])
def test_refuses_numbers_whose_sums_are_infinite(
    client: TestClient, request_values: dict[str, Any], field: str
) -> None:
    request_values["objective"] = {field: {"read": 1e308}}
    response = client.post("/v1/predict", json=request_values)
    assert check_problem(response, 422, "bad_field")["field"] == f"body.objective.{field}.read"


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe\xfa", b"[" * 60_000, b"9" * 5000])
def test_refuses_what_is_not_json(client: TestClient, text: bytes) -> None:
    assert "field" not in check_problem(post_text(client, text), 422, "not_json")


def test_refuses_a_field_that_is_there_twice(client: TestClient, request_values: dict[str, Any]) -> None:
    twice = json.dumps(request_values).replace('"cpus": 2', '"cpus": 2, "cpus": 4')
    assert check_problem(post_text(client, twice), 422, "bad_field")["field"] == "body.cpus"


@pytest.mark.parametrize("place", ["body", "features"])
def test_does_not_repeat_a_long_name(client: TestClient, request_values: dict[str, Any], place: str) -> None:
    holder = request_values if place == "body" else request_values["windows"][0]["features"]
    holder["x" * 50_000] = 1
    response = client.post("/v1/predict", json=request_values)
    check_problem(response, 422, "bad_field")
    assert len(response.content) < 2000


def test_refuses_other_content_types(client: TestClient, request_values: dict[str, Any]) -> None:
    response = client.post(
        "/v1/predict", content=json.dumps(request_values), headers={"content-type": "application/x-www-form-urlencoded"}
    )
    check_problem(response, 415, "media_type")


@pytest.mark.parametrize("coding", ["gzip", "GZIP", "deflate", "br", "identity, gzip", "x" * 5000])
def test_refuses_a_compressed_body_and_names_what_it_takes(
    client: TestClient, request_values: dict[str, Any], coding: str
) -> None:
    headers = {"content-type": "application/json", "content-encoding": coding}
    response = client.post("/v1/predict", content=gzip.compress(json.dumps(request_values).encode()), headers=headers)
    detail = check_problem(response, 415, "media_type")["detail"]
    assert detail.startswith("the body must come as it is, without Content-Encoding ")
    assert response.headers["accept-encoding"] == "identity"
    assert len(detail) < 200


def test_takes_a_body_that_says_it_is_as_it_is(client: TestClient, request_values: dict[str, Any]) -> None:
    headers = {"content-type": "application/json", "content-encoding": "Identity"}
    assert client.post("/v1/predict", content=json.dumps(request_values), headers=headers).status_code == 200


def test_refuses_an_oversized_body_whatever_its_headers_say(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(10):
            yield b" " * 10_000

    chunked = client.post("/v1/predict", content=chunks(), headers={"content-type": "application/json"})
    check_problem(chunked, 413, "too_large")
    check_problem(post_text(client, b" " * 65_537), 413, "too_large")
    assert post_text(client, b" " * 65_536).status_code == 422


FAILURES: dict[str, dict[str, Any]] = {
    "predictor raises": {"error": RuntimeError("weights are gone")},
    "tuple outside the limits": {"pool_tuple": PoolTuple(100_000, 3, 10)},
    "gain is no number": {"gain": math.nan},
}


@pytest.mark.parametrize("told", FAILURES.values(), ids=FAILURES)
def test_any_other_failure_means_keep_what_is(
    tellable: Callable[..., Any], request_values: dict[str, Any], told: dict[str, Any]
) -> None:
    with TestClient(create_app(tellable(**told)), raise_server_exceptions=True) as client:
        response = client.post("/v1/predict", json=request_values)
    assert check_problem(response, 503, "failure")["detail"] == UNAVAILABLE


def test_client_that_leaves_is_no_failure(predictor: Any) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/v1/predict", "headers": headers, "query_string": b""}
    asyncio.run(create_app(predictor)(scope, receive, send))
    assert sent[0]["status"] == 400


def test_limits_that_allow_no_tuple_are_refused(tellable: Callable[..., Any], request_values: dict[str, Any]) -> None:
    predictor = tellable(error=SettingError("the limits allow no configuration of the grid"))
    with TestClient(create_app(predictor)) as client:
        response = client.post("/v1/predict", json=request_values)
    document = check_problem(response, 422, "bad_field")
    assert (document["field"], document["detail"]) == ("body.limits", "the limits allow no configuration of the grid")
    with TestClient(create_app(predictor)) as client:
        response = client.post("/v1/predict", json={"request": request_values})
    assert check_problem(response, 422, "bad_field")["field"] == "body.request.limits"


def test_tuple_in_force_outside_the_limits_may_stay(
    tellable: Callable[..., Any], request_values: dict[str, Any]
) -> None:
    request_values["windows"][0]["pool_tuple"]["pool_size"] = 4000
    with TestClient(create_app(tellable(abstained=True))) as client:
        response = client.post("/v1/predict", json=request_values)
    assert (response.status_code, response.json()["pool_tuple"]["pool_size"]) == (200, 4000)


def test_health(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok", "schema_version": SCHEMA_VERSION}
    assert client.head("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json"])
def test_production_shows_no_documentation_pages(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404
