"""One replica, here without Ray: the whole application, with what it was started with."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from poolpilot.errors import ArtefactError, SettingError
from poolpilot.featurizer.pool_tuple import PoolTuple
from poolpilot.serve.replicas.service_replica import ServiceReplica
from poolpilot.serve.service.outcomes.outcome_segments import read_outcomes
from poolpilot.serve.service.predictor_by_kind import PredictorByKind


@pytest.fixture(autouse=True)
def _guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")


@pytest.fixture
def placed(monkeypatch: pytest.MonkeyPatch, predictor: Any) -> list[Any]:
    """What lies where a replica loads from: a predictor, or why there is none."""
    found = [PredictorByKind({"native": predictor})]

    def load(_: Path | None) -> Any:
        if isinstance(found[-1], Exception):
            raise found[-1]
        return found[-1]

    monkeypatch.setattr(PredictorByKind, "load", load)
    return found


@pytest.fixture
def client(placed: list[Any]) -> Callable[..., TestClient]:
    assert placed
    return lambda **settings: TestClient(ServiceReplica(settings).__serve_build_asgi_app__())


def test_it_is_the_service(
    client: Callable[..., TestClient], tmp_path: Path, request_values: dict[str, Any], outcome_values: dict[str, Any]
) -> None:
    replica = client(outcomes=str(tmp_path))
    assert replica.post("/v1/predict", json=request_values).json()["verdict"] == "change"
    assert replica.post("/v1/outcomes", json=outcome_values).status_code == 201
    assert [outcome.id for outcome in read_outcomes(tmp_path)] == [outcome_values["id"]]


def test_an_address_that_a_client_made_up_buys_no_rate(
    client: Callable[..., TestClient], request_values: dict[str, Any]
) -> None:
    replica = client(rate_burst=2, rate_per_s=0.001)
    app = replica.app
    codes = []
    for host in ("10.0.0.1", "10.0.0.2", "10.0.0.3"):
        with TestClient(app, client=(host, 1)) as one:
            codes.append(one.post("/v1/predict", json=request_values).status_code)
    assert codes == [200, 200, 429]


def test_it_says_what_it_could_not_load_again_and_answers_on(
    placed: list[Any], predictor: Any, request_values: dict[str, Any]
) -> None:
    replica = ServiceReplica({})
    assert asyncio.run(replica.renew()) is None
    placed.append(ArtefactError("there is no model in /srv"))
    assert asyncio.run(replica.renew()) == "there is no model in /srv"
    with TestClient(replica.__serve_build_asgi_app__()) as client:
        assert client.post("/v1/predict", json=request_values).status_code == 200
    assert len(predictor.asked) == 1


def test_it_follows_the_folder_of_its_own_host(
    placed: list[Any], tellable: Callable[..., Any], tmp_path: Path, request_values: dict[str, Any]
) -> None:
    (tmp_path / "curves").write_text("the first", encoding="ascii")
    replica = ServiceReplica({"model": str(tmp_path), "follow_every_s": 0.02})
    placed.append(PredictorByKind({"native": tellable(PoolTuple(8, 3, 10))}))
    (tmp_path / "curves").write_text("the second", encoding="ascii")
    ends_s = time.monotonic() + 30.0
    with TestClient(replica.__serve_build_asgi_app__()) as client:
        while client.post("/v1/predict", json=request_values).json()["pool_tuple"]["pool_size"] != 8:
            assert time.monotonic() < ends_s
            time.sleep(0.02)


@pytest.mark.usefixtures("placed")
def test_it_does_not_begin_where_anybody_may_talk_to_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE")
    with pytest.raises(SettingError, match="asks nobody for a token"):
        ServiceReplica({})
