"""What the page answers, to whom, and how little a hostile name, reason or request can do."""

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.serve.page.conftest import WrittenLog

from poolpilot.serve.page import page_application, server_history
from poolpilot.serve.page.followed_servers import FollowedServers
from poolpilot.serve.page.page_application import ASSETS, create_page

ASSET_FOLDER = Path(page_application.__file__).parent / "assets"
NOT_UTF_8 = os.fsdecode(b"db\xff")
HOSTILE = '<img src=x onerror="document.title=1"></script><script>document.title=2</script>'

Written = Callable[..., WrittenLog]


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[TestClient]:
    """A browser of this host that looks at the logs in the folder of the test."""
    servers = FollowedServers(tmp_path)
    with TestClient(create_page(servers), base_url="http://127.0.0.1") as client:
        yield client
    servers.close()


def check_problem(answer: Any, status: int, reason: str) -> dict[str, Any]:
    """The document of a refusal, which is one of the service's."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    document: dict[str, Any] = answer.json()
    assert (document["status"], document["reason"]) == (status, reason)
    assert document["type"] == f"urn:poolpilot:problem:{reason}"
    return document


def numbers(answer: Any) -> list[int]:
    assert answer.status_code == 200, answer.text
    return [row["number"] for row in answer.json()["decisions"]]


@pytest.mark.parametrize("name", ASSETS)
def test_files_of_the_page(asking: TestClient, name: str) -> None:
    answer = asking.get("/" if name == "page.html" else f"/{name}")
    assert answer.status_code == 200
    assert answer.content == (ASSET_FOLDER / name).read_bytes()
    assert answer.headers["content-type"] == ASSETS[name]


def test_every_file_is_served_and_every_one_that_is_named_is_there() -> None:
    assert {path.name for path in ASSET_FOLDER.iterdir()} == set(ASSETS)
    for path in ASSET_FOLDER.iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "//" not in re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE), f"{path.name} names another place"
        assert set(re.findall(r'(?:src|href)="([\w.]+)"|from "\./([\w.]+)"', text)) <= {
            pair for name in ASSETS for pair in ((name, ""), ("", name))
        }


def test_nothing_in_the_page_makes_markup_of_text() -> None:
    for path in ASSET_FOLDER.glob("*.js"):
        found = re.findall(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|Function\(", path.read_text()
        )
        assert found == [], path.name


@pytest.mark.parametrize("path", ["/", "/page.js", "/v1/servers", "/metrics", "/healthz", "/missing"])
def test_every_answer_is_guarded(asking: TestClient, path: str) -> None:
    headers = asking.get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8760", "localhost:1", "LOCALHOST", "[::1]", "[::1]:8760"])
def test_loopback_is_answered(asking: TestClient, host: str) -> None:
    assert asking.get("/healthz", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8760", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.1"),
        *("", ":8760", "127.0.0.1:80:80", "127.0.0.1:x", "user@127.0.0.1", "127.0.0.1, evil.example"),
        *("[::1", "::1", "0.0.0.0", "[::1]evil.example", "localhost:٣"),
    ],
)
def test_another_host_is_refused(asking: TestClient, host: str) -> None:
    answer = asking.get("/v1/servers", headers={b"host": host.encode()})
    assert "loopback" in check_problem(answer, 403, "not_loopback")["detail"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FROBNICATE"])
def test_nothing_but_looking(asking: TestClient, method: str) -> None:
    answer = asking.request(method, "/v1/servers")
    check_problem(answer, 405, "no_such_method")
    assert answer.headers["allow"] == "GET, HEAD"


def test_head_has_no_body(asking: TestClient) -> None:
    answer = asking.head("/")
    assert (answer.status_code, answer.content) == (200, b"")


def test_folder_without_logs_is_no_error(asking: TestClient) -> None:
    assert asking.get("/v1/servers").json() == {"servers": [], "left_out": 0, "plays": False}
    assert asking.get("/v1/decisions").status_code == 404
    assert asking.get("/metrics").status_code == 200


def test_overview_tells_of_each_server(asking: TestClient, written: Written) -> None:
    written("db1", server="one").turn(30)
    written("db2", server="two").turn(3)
    told = {each["key"]: each for each in asking.get("/v1/servers").json()["servers"]}
    assert {key: each["name"] for key, each in told.items()} == {"db1": "one", "db2": "two"}
    assert told["db1"]["latest"]["number"] == 30
    assert told["db1"]["mode"] == "apply"
    assert told["db1"]["trials"] >= 1
    assert told["db1"]["expected_gain"] > 0.0
    assert told["db2"]["expected_gain"] is None


def test_overview_tells_how_long_a_tuner_has_been_silent(asking: TestClient, written: Written) -> None:
    log = written()
    log.turn()
    os.utime(log.log.path, (time.time() - 1000.0, time.time() - 1000.0))
    assert 1000.0 <= asking.get("/v1/servers").json()["servers"][0]["silent_s"] < 2000.0
    log.turn()
    assert asking.get("/v1/servers").json()["servers"][0]["silent_s"] < 900.0


def test_silence_is_told_by_the_windows_of_the_tuner(asking: TestClient, written: Written) -> None:
    """Before, a window of more than two minutes was a tuner that had ended."""

    def silent_after_s() -> float:
        return float(asking.get("/v1/servers").json()["servers"][0]["silent_after_s"])

    log = written()
    log.turn(2)
    assert silent_after_s() == 120.0
    log.drive.at_s += 175.0
    log.turn()
    assert silent_after_s() == 720.0
    log.turn(3, in_force=None, reading=None)  # a server that is gone is looked for more often
    assert silent_after_s() == 720.0
    log.turn()
    assert silent_after_s() == 120.0
    log.log.close()
    another = written()
    another.turn()
    assert silent_after_s() == 120.0
    another.turn(at_s=1e308)
    assert silent_after_s() == 86_400.0


def test_name_that_is_no_text_of_utf_8_takes_nobody_down(
    asking: TestClient, written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for below in ("same", NOT_UTF_8):
        written(below, server="same").turn()
    written("escaped", server="db\udcff").turn()
    told = {each["key"]: each["name"] for each in asking.get("/v1/servers").json()["servers"]}
    assert told == {"same": "same (same)", "db\\xff": "same (db\\xff)", "escaped": "db\\udcff"}
    assert "same (db" in asking.get("/metrics").text
    assert numbers(asking.get("/v1/decisions", params={"server": "db\\xff"})) == [1]
    (tmp_path / os.fsdecode(b"new\xff")).mkdir()
    (tmp_path / os.fsdecode(b"new\xff") / "decisions.jsonl").write_text("")

    def fail(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("poolpilot.serve.page.log_tail.os.open", fail)
    problems = {each["key"]: each["problem"] for each in asking.get("/v1/servers").json()["servers"]}
    assert "new\\xff/decisions.jsonl: Permission denied" in problems["new\\xff"]
    assert asking.get("/v1/decisions", params={"server": "new\\xff"}).status_code == 503


def test_servers_of_one_name_are_told_apart(asking: TestClient, written: Written) -> None:
    for below in ("a", "b"):
        written(below, server="same").turn()
    assert sorted(each["name"] for each in asking.get("/v1/servers").json()["servers"]) == ["same (a)", "same (b)"]


def test_newest_first_then_what_comes_after(
    asking: TestClient, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_application, "MOST_ROWS", 10)
    log = written()
    log.turn(35)
    assert numbers(asking.get("/v1/decisions?server=.")) == list(range(26, 36))
    assert numbers(asking.get("/v1/decisions?before=26")) == list(range(16, 26))
    assert numbers(asking.get("/v1/decisions?after=35")) == []
    log.turn(12)
    assert numbers(asking.get("/v1/decisions?after=35")) == list(range(36, 46))
    assert numbers(asking.get("/v1/decisions?after=45")) == [46, 47]
    assert numbers(asking.get("/v1/decisions?after=0&limit=3")) == [1, 2, 3]
    assert len(numbers(asking.get("/v1/decisions?limit=1000000"))) == 10


def test_answer_says_what_there_is(asking: TestClient, written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_history, "KEPT", 20)
    written().turn(35)
    told = asking.get("/v1/decisions?limit=1").json()
    assert (told["server"], told["oldest"], told["latest"]) == (".", 16, 35)
    assert asking.get("/v1/decisions?after=3").json()["feed"] == told["feed"]


@pytest.mark.parametrize(
    "query", ["after=-1", "after=x", "before=1.5", "limit=1e3", "after=", "after=99999999999999999999", "after=٣"]
)
def test_number_that_is_none_is_refused(asking: TestClient, written: Written, query: str) -> None:
    written().turn()
    document = check_problem(asking.get(f"/v1/decisions?{query}"), 422, "bad_field")
    assert document["field"] == f"query.{query.partition('=')[0]}"
    assert "is a whole number from 0" in document["detail"]


def test_parameter_that_there_is_not_is_refused(asking: TestClient, written: Written) -> None:
    written().turn()
    document = check_problem(asking.get("/v1/decisions?afer=1"), 422, "bad_field")
    assert document["field"] == "query.afer"
    assert "after" in document["detail"]


def test_after_and_before_at_once_are_refused(asking: TestClient, written: Written) -> None:
    written().turn()
    answer = asking.get("/v1/decisions?after=1&before=2")
    assert check_problem(answer, 422, "bad_field")["field"] == "query.before"


@pytest.mark.parametrize("key", ["db2", "../db1", "..", "%2e%2e%2f", "", "db1%00"])
def test_unknown_server_is_not_found(asking: TestClient, written: Written, key: str) -> None:
    written("db1").turn()
    answer = asking.get(f"/v1/decisions?server={key}")
    assert "GET /v1/servers lists them" in check_problem(answer, 404, "no_such_server")["detail"]


@pytest.mark.parametrize("path", ["/../pyproject.toml", "/assets/page.js", "/page.py", "/page.css/", "//", "/v1"])
def test_unknown_path_is_not_found(asking: TestClient, path: str) -> None:
    check_problem(asking.get(f"http://127.0.0.1{path}", follow_redirects=False), 404, "no_such_path")


def test_log_that_cannot_be_read_is_a_sentence(asking: TestClient, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "decisions.jsonl").write_text("")

    def fail(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("poolpilot.serve.page.log_tail.os.open", fail)
    answer = asking.get("/v1/decisions")
    assert "Permission denied" in check_problem(answer, 503, "storage")["detail"]
    assert "Permission denied" in asking.get("/v1/servers").json()["servers"][0]["problem"]
    assert [asking.get(path).status_code for path in ("/metrics", "/healthz")] == [200, 200]


def test_what_nobody_has_foreseen_is_a_problem_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(FollowedServers, "followed", fail)
    servers = FollowedServers(tmp_path)
    with TestClient(create_page(servers), base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        answer = client.get("/v1/servers")
    servers.close()
    assert (
        "the page has failed (ZeroDivisionError): its log says where" in check_problem(answer, 503, "failure")["detail"]
    )
    assert "Traceback" not in answer.text


def test_hostile_texts_stay_data(asking: TestClient, written: Written) -> None:
    written(server=HOSTILE).say(HOSTILE)
    server = asking.get("/v1/servers")
    assert server.headers["content-type"] == "application/json"
    assert server.json()["servers"][0]["name"] == HOSTILE
    assert asking.get("/v1/decisions").json()["decisions"][-1]["reason"] == HOSTILE
    assert HOSTILE not in asking.get("/").text


def test_answers_are_strict_json(asking: TestClient, written: Written) -> None:
    log = written()
    log.turn(5, reading=None)
    log.turn(5, in_force=None)

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    for path in ("/v1/servers", "/v1/decisions"):
        json.loads(asking.get(path).text, parse_constant=refuse)
