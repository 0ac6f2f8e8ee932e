"""Who shows a token of the right scope is let in, at a rate; nobody else is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from poolpilot.serve.service.application import create_app
from poolpilot.serve.service.service_settings import ServeSettings

ASKER, OLD_ASKER, REPORTER, ADMIN = (f"{name}-{'x' * 40}" for name in ("asker", "old-asker", "reporter", "admin"))

MakeClient = Callable[..., TestClient]


@pytest.fixture
def client_of(tmp_path: Path, predictor: Any) -> MakeClient:
    """Makes a client of a service with tokens."""
    path = tmp_path / "tokens"
    path.touch(0o600)
    path.write_text(f"predict {ASKER}\npredict {OLD_ASKER}\noutcomes {REPORTER}\nadmin {ADMIN}\n", encoding="ascii")

    def make(address: str = "192.0.2.1", **values: Any) -> TestClient:
        application = create_app(predictor, ServeSettings(token_file=path, **values))
        return TestClient(application, client=(address, 1234))

    return make


def bearing(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("token", [ASKER, OLD_ASKER])
def test_token_of_the_scope_is_let_in(client_of: MakeClient, request_values: dict[str, Any], token: str) -> None:
    assert client_of().post("/v1/predict", json=request_values, headers=bearing(token)).status_code == 200


@pytest.mark.parametrize("scheme", ["bearer", "BEARER"])
def test_scheme_may_be_spelled_in_any_case(client_of: MakeClient, scheme: str) -> None:
    assert client_of().get("/v1/model", headers={"Authorization": f"{scheme} {ASKER}"}).status_code == 200


@pytest.mark.parametrize("path", ["/v1/predict", "/v1/outcomes", "/v1/model", "/metrics", "/nowhere"])
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": ""}, {"Authorization": "Bearer "}, {"Authorization": f"Basic {ASKER}"}],
    ids=["none", "empty", "no token", "another scheme"],
)
def test_without_a_token_nothing_is_told(client_of: MakeClient, path: str, headers: dict[str, str]) -> None:
    refused = client_of().get(path, headers=headers)
    assert (refused.status_code, refused.json()["reason"]) == (401, "no_token")
    assert refused.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("origin", ["http://somebody.example", "http://127.0.0.1:8750", "null", ""])
@pytest.mark.parametrize("path", ["/v1/predict", "/v1/outcomes", "/v1/model"])
def test_without_tokens_no_page_in_a_browser_is_answered(
    predictor: Any, request_values: dict[str, Any], path: str, origin: str
) -> None:
    client = TestClient(create_app(predictor, ServeSettings()))
    refused = client.post(path, json=request_values, headers={"Origin": origin})
    assert (refused.status_code, refused.json()["reason"]) == (403, "from_a_page")
    assert predictor.asked == []
    assert client.post("/v1/predict", json=request_values).status_code == 200


def test_a_token_is_enough_for_a_page(client_of: MakeClient, request_values: dict[str, Any]) -> None:
    headers = {**bearing(ASKER), "Origin": "http://somebody.example"}
    assert client_of().post("/v1/predict", json=request_values, headers=headers).status_code == 200


def test_two_tokens_are_none(client_of: MakeClient) -> None:
    twice = [("Authorization", f"Bearer {ASKER}"), ("Authorization", f"Bearer {ADMIN}")]
    assert client_of().get("/v1/model", headers=twice).json()["reason"] == "no_token"


@pytest.mark.parametrize("token", [ASKER + "x", ASKER[:-1], "x", "\u00e4" * 40])
def test_unknown_token_is_refused(client_of: MakeClient, token: str) -> None:
    refused = client_of().get("/v1/model", headers={b"Authorization": f"Bearer {token}".encode("latin-1")})
    assert (refused.status_code, refused.json()["reason"]) == (401, "unknown_token")
    assert token not in refused.text


SCOPES = {
    "/v1/predict": (ASKER, (REPORTER, ADMIN)),
    "/v1/outcomes": (REPORTER, (ASKER, ADMIN)),
    "/v1/model": (ADMIN, (ASKER, REPORTER)),
}


@pytest.mark.parametrize("path", SCOPES)
def test_only_its_scope_opens_a_path(client_of: MakeClient, path: str) -> None:
    right, wrong = SCOPES[path]
    assert client_of().post(path, headers=bearing(right)).status_code != 403
    for token in wrong:
        refused = client_of().post(path, headers=bearing(token))
        assert (refused.status_code, refused.json()["reason"]) == (403, "wrong_scope")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_needs_no_token_and_has_no_limit(client_of: MakeClient, path: str) -> None:
    client = client_of(rate_per_s=0.001, rate_burst=1)
    assert [client.get(path).status_code for _ in range(3)] == [200] * 3


def test_token_has_a_rate_wherever_it_comes_from(client_of: MakeClient) -> None:
    client = client_of(rate_per_s=0.1, rate_burst=2)
    assert [client.get("/v1/model", headers=bearing(ASKER)).status_code for _ in range(2)] == [200] * 2
    refused = client.get("/v1/model", headers=bearing(ASKER))
    assert (refused.status_code, refused.json()["reason"]) == (429, "too_many_requests")
    assert refused.headers["retry-after"] == "10"
    assert "keep what is" in refused.json()["detail"]
    assert client.get("/v1/model", headers=bearing(OLD_ASKER)).status_code == 200


def test_who_guesses_tokens_is_held_to_a_rate(client_of: MakeClient) -> None:
    client = client_of(rate_per_s=0.1, rate_burst=2)
    guesses = [client.get("/v1/model", headers=bearing(f"guess-{number}")).status_code for number in range(4)]
    assert guesses == [401, 401, 429, 429]
    assert client.get("/v1/model", headers=bearing(ASKER)).status_code == 200, "a token is no address"


@pytest.mark.parametrize(
    ("addresses", "statuses"),
    [
        (["192.0.2.1", "192.0.2.1", "192.0.2.2"], [200, 429, 200]),
        (["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"], [200, 429, 200]),
    ],
    ids=["an address", "a site"],
)
def test_without_tokens_an_address_has_a_rate(predictor: Any, addresses: list[str], statuses: list[int]) -> None:
    application = create_app(predictor, ServeSettings(rate_per_s=0.001, rate_burst=1))
    answers = [TestClient(application, client=(address, 1)).get("/v1/model").status_code for address in addresses]
    assert answers == statuses


@pytest.mark.parametrize("token", [ASKER, REPORTER])
@pytest.mark.parametrize("path", ["/v1/model", "/v1/outcomes", "/v1/predict", "/metrics"])
@pytest.mark.parametrize("after", ["%0A", "%0D%0A", "%00", "%20", "/", "//"])
def test_what_only_resembles_a_path_is_none(
    client_of: MakeClient, predictor: Any, request_values: dict[str, Any], path: str, after: str, token: str
) -> None:
    """A router may take a path with a newline behind it for the path, for which no scope would be asked."""
    refused = client_of().post(f"{path}{after}", json=request_values, headers=bearing(token))
    assert (refused.status_code, refused.json()["reason"]) == (404, "no_such_path")
    assert predictor.asked == []
