"""The body of a request is what `Predictor.predict` takes, and nothing else is accepted."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from poolpilot.env.knobs import KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import FeatureError, PoolPilotError
from poolpilot.featurizer.window import Window
from poolpilot.models.artefact import Artefact
from poolpilot.models.body import MOST_WINDOWS, as_body, from_body
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
        ({"path": "/etc/passwd"}, "no field 'path'; allowed are windows, limits, objective"),
        ({"windows": []}, f"1 to {MOST_WINDOWS} windows"),
        ({"windows": "many"}, "'windows' must be a list"),
        ({"windows": [{}]}, "schema_version"),
        ({"limits": 3}, "'limits' must be an object"),
        ({"limits": {"cpus": 2}}, "limits need 'cpus'"),
        ({"objective": {"price_of_thread": -1.0}}, "objective.price_of_thread: "),
        ({"objective": {"price": 1.0}}, "objective.price: "),
        ({"objective": None}, "objective: "),
    ],
)
def test_foreign_field_or_value_is_refused_by_name(body: dict[str, Any], change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PoolPilotError, match=sentence):
        from_body({**body, **change})


def test_body_must_be_an_object() -> None:
    with pytest.raises(FeatureError, match="must be a JSON object"):
        from_body([])
