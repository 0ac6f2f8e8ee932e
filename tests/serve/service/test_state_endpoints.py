"""What the service says of itself, and that its models are loaded again, or stay where that fails."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from poolpilot.errors import ArtefactError
from poolpilot.featurizer.schema import SCHEMA_VERSION
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.models.advisor.model import KindNetworks, Model
from poolpilot.models.artefact import Artefact
from poolpilot.models.card import ModelKind
from poolpilot.models.champion import load_any_machine, load_champion
from poolpilot.models.latent.shipped_curves import load_curves
from poolpilot.models.predictor import ScorePredictor
from poolpilot.serve.service import state_endpoints
from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.refusals.problem import UNAVAILABLE
from poolpilot.serve.service.service_settings import ServeSettings

MODEL = "/v1/model"

NATIVE, MARIADB = load_champion(kind="native"), load_champion(kind="mariadb")


def shipped(kind: ModelKind, network: Artefact | None = None) -> Model:
    """A network that answers alone as that of a kind; the one that ships for it if none is given."""
    artefact = network or {"native": NATIVE, "mariadb": MARIADB}[kind]
    return Model(None, {"native": KindNetworks(ScorePredictor(artefact), alone=True)})


@pytest.fixture
def placed() -> list[Model | Exception]:
    """What lies where the service loads from; the last one is loaded, or raised."""
    return [shipped("native")]


@pytest.fixture
def client(placed: list[Any]) -> TestClient:
    def load() -> Model:
        if isinstance(placed[-1], Exception):
            raise placed[-1]
        found: Model = placed[-1]
        return found

    return TestClient(create_app(Advisor(load(), load=load)))


def digests(client: TestClient) -> Any:
    return client.get(MODEL).json()["models"]


def test_model_names_the_digests_of_all_parts() -> None:
    models = digests(TestClient(create_app(Advisor.load())))
    curves = load_curves().digest
    assert models == {
        "native": {"network": NATIVE.digest, "network_any_machine": load_any_machine().digest, "curves": curves},
        "mariadb": {"network": MARIADB.digest, "curves": curves},
    }


def test_model_is_loaded_again_and_answers(
    client: TestClient, placed: list[Any], request_values: dict[str, Any]
) -> None:
    assert digests(client) == {"native": {"network": NATIVE.digest}}
    placed.append(shipped("mariadb"))
    assert digests(client) == {"native": {"network": NATIVE.digest}}, "nobody has asked"
    assert client.post(MODEL).json()["models"] == {"native": {"network": MARIADB.digest}}
    assert client.post("/v1/predict", json=request_values).json()["model_digest"] == MARIADB.digest
    metrics = client.get("/metrics").text
    assert MARIADB.digest in metrics
    assert NATIVE.digest not in metrics
    assert 'poolpilot_model_reloads_total{result="done"} 1.0' in metrics


@pytest.mark.parametrize("error", [ArtefactError("model.json is damaged; copy it again"), RuntimeError("no memory")])
def test_old_model_answers_on_where_the_new_one_fails(
    client: TestClient, placed: list[Any], request_values: dict[str, Any], error: Exception
) -> None:
    placed.append(error)
    with capture_logs() as told:
        refused = client.post(MODEL)
    assert (refused.status_code, refused.json()["reason"]) == (503, "reload_failed")
    assert refused.json()["detail"].startswith(UNAVAILABLE)
    assert [str(error) in str(event["reasons"]) for event in told if event["log_level"] == "error"] == [True]
    assert client.get(MODEL).json()["failed_reload"] == str(error)
    assert 'poolpilot_model_reloads_total{result="failed"} 1.0' in client.get("/metrics").text
    assert client.post("/v1/predict", json=request_values).json()["model_digest"] == NATIVE.digest
    assert client.get("/readyz").status_code == 200
    placed.append(shipped("mariadb"))
    assert client.post(MODEL).json()["failed_reload"] is None


def unsound(artefact: Artefact) -> Artefact:
    """The same network with a weight that is not what it was."""
    weights = {**artefact.weights}
    weights["score_out.weight"] = weights["score_out.weight"] * np.float32(1.5)
    return replace(artefact, weights=weights)


def test_model_that_does_not_answer_its_golden_vectors_does_not_take_over(
    client: TestClient, placed: list[Any]
) -> None:
    placed.append(shipped("native", unsound(MARIADB)))
    assert "does not answer what it did" in client.post(MODEL).json()["detail"]
    assert digests(client) == {"native": {"network": NATIVE.digest}}


def test_ready_while_the_golden_vectors_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_endpoints, "CHECKED_FOR_S", 0.0)
    sound = Advisor(shipped("native"))
    client = TestClient(create_app(sound))
    assert client.get("/readyz").json() == {"status": "ready", "schema_version": SCHEMA_VERSION}
    sound.model = shipped("native", unsound(NATIVE))
    refused = client.get("/readyz")
    assert (refused.status_code, refused.json()["reason"]) == (503, "not_ready")
    assert client.get("/healthz").status_code == 200, "the process lives"


def test_ready_while_the_golden_vectors_of_both_networks_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_endpoints, "CHECKED_FOR_S", 0.0)
    advisor = Advisor.load()
    client = TestClient(create_app(advisor))
    assert client.get("/readyz").status_code == 200
    networks = advisor.model.networks["native"]
    assert networks.any_machine is not None
    other = ScorePredictor(unsound(networks.any_machine.artefact))
    advisor.model = replace(advisor.model, networks={"native": replace(networks, any_machine=other)})
    assert client.get("/readyz").json()["reason"] == "not_ready"


def test_models_are_not_loaded_twice_at_once(placed: list[Any], serving: Any) -> None:
    began, may_end = threading.Event(), threading.Event()

    def load() -> Model:
        began.set()
        assert may_end.wait(30.0)
        return shipped("mariadb")

    service = serving(Advisor(placed[0], load=load))
    with ThreadPoolExecutor() as threads:
        first = threads.submit(httpx2.post, f"{service.url}{MODEL}", timeout=30.0)
        assert began.wait(30.0)
        refused = httpx2.post(f"{service.url}{MODEL}")
        assert (refused.status_code, refused.json()["reason"]) == (503, "busy")
        assert httpx2.get(f"{service.url}{MODEL}").json()["models"] == {"native": {"network": NATIVE.digest}}
        may_end.set()
        assert first.result().json()["models"] == {"native": {"network": MARIADB.digest}}


def test_client_names_no_folder(client: TestClient, placed: list[Any]) -> None:
    placed.append(shipped("mariadb"))
    answered = client.post(f"{MODEL}?model=/etc", json={"model": "/etc", "folder": "/etc"})
    assert answered.json()["models"] == {"native": {"network": MARIADB.digest}}


def test_tokens_are_read_again_even_where_the_models_fail(placed: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.touch(0o600)
    old, new = "old-" + "a" * 40, "new-" + "b" * 40
    path.write_text(f"admin {old}\n", encoding="ascii")

    def load() -> Model:
        raise ArtefactError("the model is gone")

    client = TestClient(create_app(Advisor(placed[0], load=load), ServeSettings(token_file=path)))
    path.write_text(f"admin {new}\n", encoding="ascii")
    assert client.post(MODEL, headers={"Authorization": f"Bearer {old}"}).status_code == 503
    assert client.get(MODEL, headers={"Authorization": f"Bearer {old}"}).status_code == 401
    assert client.get(MODEL, headers={"Authorization": f"Bearer {new}"}).status_code == 200


@pytest.mark.parametrize(("path", "allowed"), [("/v1/predict", "POST"), ("/v1/outcomes", "POST"), ("/healthz", "GET")])
def test_other_methods_are_refused_and_the_right_one_named(client: TestClient, path: str, allowed: str) -> None:
    refused = client.delete(path)
    assert (refused.status_code, refused.json()["reason"]) == (405, "no_such_method")
    assert allowed in refused.headers["allow"]
    assert allowed in refused.json()["detail"]


@pytest.mark.parametrize("path", ["/", "/docs", "/v1/predict/", "/openapi.json", "/%00", "/v1//model"])
def test_other_paths_are_refused(client: TestClient, path: str) -> None:
    refused = client.get(path)
    assert refused.headers["content-type"] == "application/problem+json"
    assert (refused.status_code, refused.json()["reason"]) == (404, "no_such_path")
