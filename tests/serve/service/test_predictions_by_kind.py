"""The model is the one for the kind of server that the windows come from; a kind that none knows is refused by name."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from poolpilot.env.knobs import CORE_KNOBS
from poolpilot.featurizer.snapshot import SERVER_KINDS
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.champion import CHAMPIONS, MODEL_FOR, load_any_machine, load_champion
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.serve.service.application import create_app


@pytest.fixture(autouse=True)
def _shipped_models(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, variable in CHAMPIONS.values():
        monkeypatch.delenv(variable, raising=False)


def test_service_answers_for_every_known_kind_or_names_the_field(request_values: dict[str, Any]) -> None:
    networks = (load_any_machine(), *(load_champion(kind=kind) for kind in CHAMPIONS))
    shipped = {load_curves().digest, *(network.digest for network in networks)}
    window = request_values["windows"][0]
    with TestClient(create_app(Advisor.load()), raise_server_exceptions=True) as client:
        for server_kind in MODEL_FOR:
            window["server_kind"] = server_kind
            assert client.post("/v1/predict", json=request_values).json()["model_digest"] in shipped
        del window["server_kind"]  # as releases before this field wrote it
        assert client.post("/v1/predict", json=request_values).json()["model_digest"] in shipped
        for unknown in (kind for kind in SERVER_KINDS if kind not in MODEL_FOR):
            window["server_kind"] = unknown
            for query in ("", "?trials=true"):
                refused = client.post(f"/v1/predict{query}", json=request_values)
                assert (refused.status_code, refused.json()["field"]) == (422, "body.windows.0.server_kind")
                assert f"'{unknown}', and no model has learned from such servers" in refused.json()["detail"]


def test_service_names_trials_where_that_is_asked_for(request_values: dict[str, Any]) -> None:
    with TestClient(create_app(Advisor.load())) as client:
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
    with TestClient(create_app(Advisor.load())) as client:
        named: list[str] = []
        for _ in range(4):
            query = "&".join(["trials=true", *(f"forbidden={one}" for one in named)])
            answer = client.post(f"/v1/predict?{query}", json=request_values).json()
            named.append(",".join(str(answer["pool_tuple"][name]) for name in CORE_KNOBS))
        assert len(set(named)) == 4
        for wrong in ("forbidden=8,3", "forbidden=", "forbidden=-8,3,10", "&".join(["forbidden=8,3,10"] * 65)):
            refused = client.post(f"/v1/predict?{wrong}", json=request_values)
            assert (refused.status_code, refused.json()["field"]) == (422, "query.forbidden")
