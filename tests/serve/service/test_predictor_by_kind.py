"""The model is the one for the kind of server that the windows come from; a kind that none knows is refused by name."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient

from poolpilot.env.knobs import CORE_KNOBS, KnobSpace
from poolpilot.env.objective import Objective
from poolpilot.errors import ArtefactError, FeatureError
from poolpilot.featurizer.snapshot import SERVER_KINDS, ServerKind
from poolpilot.featurizer.window import Window
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import CHAMPIONS, MODEL_FOR, champion_folder, load_any_machine, load_champion
from poolpilot.models.latent.latent_bandit import LatentBandit
from poolpilot.models.latent.one_observation import OneObservation
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import ScorePredictor
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.predictor_by_kind import PredictorByKind


@pytest.fixture(autouse=True)
def _shipped_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, variable in CHAMPIONS.values():
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def told(tellable: Callable[..., Any]) -> dict[ModelKind, Any]:
    """A predictor for each kind."""
    return {kind: tellable() for kind in CHAMPIONS}


@pytest.mark.parametrize(("server_kind", "kind"), MODEL_FOR.items())
def test_windows_go_to_the_model_that_knows_them(
    told: dict[ModelKind, Any], window_values: dict[str, Any], server_kind: ServerKind, kind: ModelKind
) -> None:
    window = replace(Window.from_dict(window_values), server_kind=server_kind)
    PredictorByKind(told).predict([window], KnobSpace.stock(2), Objective())
    assert {kind: len(predictor.asked) for kind, predictor in told.items() if predictor.asked} == {kind: 1}


@pytest.mark.parametrize("server_kind", [kind for kind in SERVER_KINDS if kind not in MODEL_FOR])
def test_kind_that_no_model_knows_is_refused(
    told: dict[ModelKind, Any], window_values: dict[str, Any], server_kind: ServerKind
) -> None:
    window = replace(Window.from_dict(window_values), server_kind=server_kind)
    with pytest.raises(FeatureError, match=f"server_kind is '{server_kind}', and no model has learned"):
        PredictorByKind(told).predict([window], KnobSpace.stock(2), Objective())


def test_known_curves_answer_unless_a_network_is_named_for_its_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = champion_folder(kind="mariadb")
    assert {type(predictor) for predictor in PredictorByKind.load().predictors.values()} == {OneObservation}
    named = PredictorByKind.load(folder).predictors
    assert isinstance(named["mariadb"], ScorePredictor)
    assert isinstance(named["native"], OneObservation)
    monkeypatch.setenv(CHAMPIONS["native"][1], str(champion_folder()))
    assert isinstance(PredictorByKind.load().predictors["native"], ScorePredictor)
    monkeypatch.setenv(CHAMPIONS["mariadb"][1], "nowhere")
    assert PredictorByKind.load(folder).predictors.keys() == CHAMPIONS.keys()
    with pytest.raises(ArtefactError, match="no champion in nowhere"):
        PredictorByKind.load()


def test_service_answers_for_every_known_kind_or_names_the_field(request_values: dict[str, Any]) -> None:
    networks = (load_any_machine(), *(load_champion(kind=kind) for kind in CHAMPIONS))
    shipped = {load_curves().digest, *(network.digest for network in networks)}
    window = request_values["windows"][0]
    with TestClient(create_app(PredictorByKind.load()), raise_server_exceptions=True) as client:
        for server_kind in MODEL_FOR:
            window["server_kind"] = server_kind
            assert client.post("/v1/predict", json=request_values).json()["model_digest"] in shipped
        del window["server_kind"]  # as releases before this field wrote it
        assert client.post("/v1/predict", json=request_values).json()["model_digest"] in shipped
        window["server_kind"] = "other"
        refused = client.post("/v1/predict", json=request_values)
    assert refused.status_code == 422
    assert refused.json()["field"] == "body.windows.0.server_kind"
    assert "'other', and no model has learned from such servers" in refused.json()["detail"]


def test_who_measures_what_is_named_is_answered_by_what_names_trials(
    told: dict[ModelKind, Any], window_values: dict[str, Any], tellable: Callable[..., Any]
) -> None:
    window, trying = Window.from_dict(window_values), tellable()
    both = PredictorByKind(told, dict.fromkeys(CHAMPIONS, trying))
    both.for_trials().predict([window], KnobSpace.stock(2), Objective())
    assert len(trying.asked) == 1
    assert not any(predictor.asked for predictor in told.values())
    PredictorByKind(told).for_trials().predict([window], KnobSpace.stock(2), Objective())
    assert sum(len(predictor.asked) for predictor in told.values()) == 1


def test_network_that_is_named_names_trials_of_its_kind_too() -> None:
    trying = PredictorByKind.load(champion_folder(kind="mariadb")).for_trials()
    assert isinstance(trying, PredictorByKind)
    assert isinstance(trying.predictors["mariadb"], ScorePredictor)
    assert isinstance(trying.predictors["native"], LatentBandit)


def test_service_names_trials_where_that_is_asked_for(request_values: dict[str, Any]) -> None:
    with TestClient(create_app(PredictorByKind.load())) as client:
        tried = client.post("/v1/predict?trials=true", json=request_values).json()
        assert tried["model_digest"] == load_curves().digest
        assert tried["improvement"] is not None
        plain = client.post("/v1/predict", json=request_values).json()
        assert client.post("/v1/predict?trials=false", json=request_values).json() == plain
        assert plain["improvement"] is None
        for wrong in ("trials=maybe", "trials=true&trials=false", "trials="):
            refused = client.post(f"/v1/predict?{wrong}", json=request_values)
            assert (refused.status_code, refused.json()["field"]) == (422, "query.trials")


def test_service_names_another_trial_where_the_first_is_forbidden(request_values: dict[str, Any]) -> None:
    with TestClient(create_app(PredictorByKind.load())) as client:
        named: list[str] = []
        for _ in range(4):
            query = "&".join(["trials=true", *(f"forbidden={one}" for one in named)])
            answer = client.post(f"/v1/predict?{query}", json=request_values).json()
            named.append(",".join(str(answer["pool_tuple"][name]) for name in CORE_KNOBS))
        assert len(set(named)) == 4
        for wrong in ("forbidden=8,3", "forbidden=", "forbidden=-8,3,10", "&".join(["forbidden=8,3,10"] * 65)):
            refused = client.post(f"/v1/predict?{wrong}", json=request_values)
            assert (refused.status_code, refused.json()["field"]) == (422, "query.forbidden")
