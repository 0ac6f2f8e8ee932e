"""The description of the service fits what it takes and what it answers, name by name."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as draw
from jsonschema_rs import Draft202012Validator
from starlette.testclient import TestClient

from poolpilot.env.knobs import CORE_KNOBS
from poolpilot.env.objective import Objective
from poolpilot.featurizer.schema import INDICATORS, feature_names
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.prediction_request import RequestError, checked
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.openapi_document import DOCUMENT
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog
from poolpilot.serve.service.service_settings import ServeSettings

SERVICE = Path(__file__).parents[3] / "docs" / "service.md"

SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]

VALUES = draw.one_of(
    draw.none(),
    draw.booleans(),
    draw.integers(-3, 40),
    draw.sampled_from([2**32, 2**53, 1e308, 5e-324, 1e9, 0.5]),
    draw.text(max_size=8),
    draw.lists(draw.integers(0, 3), max_size=2),
    draw.dictionaries(draw.text(max_size=8), draw.integers(0, 3), max_size=2),
)


def said_wrong(schema: dict[str, Any], value: object) -> list[str]:
    """What of a value is not as a schema of the description has it."""
    validator = Draft202012Validator({**schema, "components": DOCUMENT["components"]})
    return [f"{error.instance_path}: {error.message[:200]}" for error in validator.iter_errors(value)]


def body_of(path: str) -> dict[str, Any]:
    schema: dict[str, Any] = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return schema


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*before, key)
        yield from places(one, (*before, key))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with OutcomeLog(Path(tmp_path_factory.mktemp("outcomes")), 2**30) as log:
        yield TestClient(create_app(Advisor.load(), ServeSettings(openapi=True), outcomes=log))


def test_document_is_one_and_refers_to_what_is_there(client: TestClient) -> None:
    assert client.get("/openapi.json").json() == json.loads(json.dumps(DOCUMENT))
    for name, schema in SCHEMAS.items():
        Draft202012Validator({**schema, "components": DOCUMENT["components"]})
        assert set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(schema))) <= set(SCHEMAS), name


def test_what_is_sent_fits_also_within_a_file_of_a_command(
    request_values: dict[str, Any], outcome_values: dict[str, Any]
) -> None:
    for sent in (request_values, {"request": request_values, "verdict": "change", "windows": 3}):
        assert said_wrong(body_of("/v1/predict"), sent) == []
    without = {name: value for name, value in request_values.items() if name != "objective"}
    assert said_wrong(body_of("/v1/predict"), without) == []
    assert said_wrong(body_of("/v1/outcomes"), outcome_values) == []


def test_fields_are_named() -> None:
    window = SCHEMAS["Window"]["properties"]
    assert tuple(window["features"]["properties"]) == feature_names()
    assert set(window["indicators"]["properties"]) == {indicator.name for indicator in INDICATORS}
    assert set(SCHEMAS["Objective"]["properties"]) == set(Objective.model_fields)
    assert {*CORE_KNOBS} < set(SCHEMAS["StatedKnob"]["properties"]["name"]["enum"])
    assert set(SCHEMAS["Body"]["properties"]) == {"windows", "limits", "objective"}
    table = SERVICE.read_text(encoding="utf-8").partition("## Outcomes")[2].partition("201 says")[0]
    assert set(SCHEMAS["Outcome"]["properties"]) == set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))


def test_example_of_a_refusal_in_the_manual_is_as_described() -> None:
    (example,) = re.findall(r"```json\n(.*?)```", SERVICE.read_text(encoding="utf-8"), re.DOTALL)
    assert said_wrong(SCHEMAS["Problem"], json.loads(example)) == []


def test_answers_are_as_described(
    client: TestClient, request_values: dict[str, Any], outcome_values: dict[str, Any]
) -> None:
    answered = [
        ("/v1/predict", "post", client.post("/v1/predict", json=request_values)),
        ("/v1/predict", "post", client.post("/v1/predict?trials=true", json={"request": request_values})),
        ("/v1/predict", "post", client.post("/v1/predict", json={})),
        ("/v1/outcomes", "post", client.post("/v1/outcomes", json=outcome_values)),
        ("/v1/outcomes", "post", client.post("/v1/outcomes", json=outcome_values)),
        ("/v1/outcomes", "post", client.post("/v1/outcomes", json={**outcome_values, "verdict": "not tried"})),
        *((path, "get", client.get(path)) for path in ("/v1/model", "/healthz", "/readyz")),
    ]
    assert [each.status_code for _, _, each in answered] == [200, 200, 422, 201, 200, 409, 200, 200, 200]
    for path, method, each in answered:
        responses = DOCUMENT["paths"][path][method]["responses"]
        response = responses.get(str(each.status_code), responses["default"])
        assert said_wrong(response["content"][each.headers["content-type"]]["schema"], each.json()) == [], path
    prediction = answered[0][2].json()
    assert prediction.keys() == SCHEMAS["Prediction"]["properties"].keys()


@given(data=draw.data())
@settings(
    max_examples=300, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_what_is_taken_is_within_the_description(request_values: dict[str, Any], data: draw.DataObject) -> None:
    body = copy.deepcopy(request_values)
    *way, last = data.draw(draw.sampled_from(list(places(body))))
    holder: Any = body
    for key in way:
        holder = holder[key]
    change = data.draw(draw.sampled_from(["delete", "replace"]))
    if isinstance(holder, dict) and change == "delete":
        del holder[last]
    else:
        holder[last] = data.draw(VALUES)
    try:
        checked(body)
    except RequestError:
        return
    assert said_wrong(body_of("/v1/predict"), body) == []
