"""A report says what became of a prediction, or is refused by the name of its field."""

from collections.abc import Callable
from typing import Any

import pytest

from poolpilot.models.prediction_request import RequestError
from poolpilot.serve.service.outcomes.reported_outcome import ReportedOutcome

Change = Callable[[dict[str, Any]], object]


def test_report_is_restored_from_what_is_written(outcome_values: dict[str, Any]) -> None:
    outcome = ReportedOutcome.from_json(outcome_values)
    assert ReportedOutcome.from_json(outcome.as_dict()) == outcome
    assert (outcome.server_id, outcome.propensity, outcome.verdict) == ("db-1 (the shop)", 0.25, "kept")
    assert [window.pool_tuple.pool_size for window in outcome.request.windows] == [2, 16]


def test_report_of_an_older_client_says_rolled_back(outcome_values: dict[str, Any]) -> None:
    assert ReportedOutcome.from_json({**outcome_values, "verdict": "taken back"}).verdict == "rolled back"


CHANGES: dict[str, tuple[Change, str]] = {
    "no id": (lambda body: body.pop("id"), "body.id"),
    "empty id": (lambda body: body.update(id=""), "body.id"),
    "long id": (lambda body: body.update(id="a" * 65), "body.id"),
    "id with a quote": (lambda body: body.update(id='a"b'), "body.id"),
    "id with a newline at its end": (lambda body: body.update(id="a\n"), "body.id"),
    "id is a number": (lambda body: body.update(id=7), "body.id"),
    "long server": (lambda body: body.update(server_id="a" * 129), "body.server_id"),
    "server with a newline": (lambda body: body.update(server_id="a\nb"), "body.server_id"),
    "impossible": (lambda body: body.update(propensity=0.0), "body.propensity"),
    "more than sure": (lambda body: body.update(propensity=1.01), "body.propensity"),
    "propensity is true": (lambda body: body.update(propensity=True), "body.propensity"),
    "digest of another length": (lambda body: body.update(model_digest="ab"), "body.model_digest"),
    "unknown verdict": (lambda body: body.update(verdict="fine"), "body.verdict"),
    "unknown field": (lambda body: body.update(path="/etc/passwd"), "body.path"),
    "no request": (lambda body: body.pop("request"), "body.request"),
    "request is null": (lambda body: body.update(request=None), "body.request"),
    "one window": (lambda body: body["request"]["windows"].pop(), "body.request.windows"),
    "three windows": (
        lambda body: body["request"]["windows"].append(body["request"]["windows"][0]),
        "body.request.windows",
    ),
    "bad window": (
        lambda body: body["request"]["windows"][1].update(duration_s=0),
        "body.request.windows.1.duration_s",
    ),
    "bad limits": (lambda body: body["request"]["limits"].update(cpus=0), "body.request.limits.cpus"),
    "no object": (lambda body: body.clear(), "body.request"),
}


@pytest.mark.parametrize(("change", "field"), CHANGES.values(), ids=CHANGES)
def test_bad_report_is_refused_by_the_name_of_its_field(
    outcome_values: dict[str, Any], change: Change, field: str
) -> None:
    change(outcome_values)
    with pytest.raises(RequestError) as refused:
        ReportedOutcome.from_json(outcome_values)
    assert ".".join(map(str, refused.value.location)) == field


@pytest.mark.parametrize("values", [[], "text", None, 3])
def test_what_is_no_object_is_refused(values: object) -> None:
    with pytest.raises(RequestError, match="must be a JSON object"):
        ReportedOutcome.from_json(values)


@pytest.mark.parametrize("propensity", [1, 1.0, 1e-9])
def test_propensity_is_above_0_and_at_most_1(outcome_values: dict[str, Any], propensity: float) -> None:
    outcome_values["propensity"] = propensity
    assert ReportedOutcome.from_json(outcome_values).propensity == propensity
