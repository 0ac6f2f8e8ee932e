"""The body of a request is what `Predictor.predict` takes, and nothing else is accepted."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import FeatureError, PoolPilotError
from poolpilot.featurizer.window import Window
from poolpilot.models.artefact import Artefact
from poolpilot.models.body import MOST_WINDOWS, REQUEST, as_body, from_body, outcome_body
from poolpilot.models.predictor import ScorePredictor


@pytest.fixture
def body(window_of: Callable[..., Window], limits: KnobSpace) -> dict[str, Any]:
    return as_body([window_of(1)], limits, Objective(targets_ms={"read": 5.0}))


def test_prediction_is_the_same_after_the_way_through_json(
    unanimous: Artefact, window_of: Callable[..., Window], limits: KnobSpace, body: dict[str, Any]
) -> None:
    predictor = ScorePredictor(unanimous)
    request = from_body(json.loads(json.dumps(body)))
    expected = predictor.predict([window_of(1)], limits, Objective(targets_ms={"read": 5.0}))
    actual = predictor.predict(*request)
    assert (actual.pool_tuple, actual.reasons) == (expected.pool_tuple, expected.reasons)
    assert actual.expected_gain == pytest.approx(expected.expected_gain, abs=1e-6)


def test_objective_may_be_left_out(body: dict[str, Any]) -> None:
    del body["objective"]
    assert from_body(body).objective == Objective()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"path": "/etc/passwd"}, "no field 'path'; allowed are windows, limits, objective, or 'request'"),
        ({"windows": []}, f"1 to {MOST_WINDOWS} windows"),
        ({"windows": "many"}, "'windows' must be a list"),
        ({"windows": [{}]}, "schema_version"),
        ({"limits": 3}, "'limits' must be an object"),
        ({"limits": {"cpus": 2}}, "limits need 'cpus'"),
        ({"objective": {"price_of_thread": -1.0}}, "objective.price_of_thread: "),
        ({"objective": {"price_of_thread": "0.5"}}, "objective.price_of_thread: "),
        ({"objective": {"weights": {"read": True}}}, "objective.weights.read: "),
        ({"objective": {"price": 1.0}}, "objective.price: "),
        ({"objective": None}, "objective is None; allowed is an object"),
    ],
)
def test_foreign_field_or_value_is_refused_by_name(body: dict[str, Any], change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PoolPilotError, match=sentence):
        from_body({**body, **change})


@pytest.mark.parametrize("body", [[], {REQUEST: []}, {REQUEST: "a window"}])
def test_body_must_be_an_object(body: object) -> None:
    with pytest.raises(FeatureError, match="must be a JSON object"):
        from_body(body)


def test_file_of_a_command_is_read_as_the_request_in_it(body: dict[str, Any]) -> None:
    told = {"outcome": [], "windows": "something else", REQUEST: body, "interrupted": False}
    assert from_body(told) == from_body(body)


def test_file_that_was_written_before_anything_was_measured_is_refused() -> None:
    with pytest.raises(FeatureError, match="holds no window: it was written before anything was measured") as refused:
        from_body({REQUEST: None, "steps": []})
    assert refused.value.feature == "", "the whole body"


def test_windows_of_two_kinds_of_servers_are_refused_by_name(
    window_of: Callable[..., Window], limits: KnobSpace
) -> None:
    windows = [window_of(1), replace(window_of(2), server_kind="mariadb")]
    with pytest.raises(FeatureError, match=r"servers of different kinds \(mariadb, native\)") as refused:
        from_body(as_body(windows, limits, Objective()))
    assert refused.value.feature == "windows.1.server_kind"
    assert from_body(as_body(windows[1:], limits, Objective())).windows[0].server_kind == "mariadb"


def test_outcome_is_what_was_measured_before_and_after(window_of: Callable[..., Window], limits: KnobSpace) -> None:
    before, after = window_of(1), window_of(2)
    for first, last in ((before, after), (None, after), (before, None)):
        written = outcome_body(first, last, limits, Objective())
        assert from_body(json.loads(json.dumps(written))).windows == tuple(filter(None, (first, last)))
    assert outcome_body(None, None, limits, Objective()) is None
