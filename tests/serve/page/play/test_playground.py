"""The playground answers what is asked for, once, one at a time, and not as fast as anybody likes."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from poolpilot.serve.page.followed_servers import FollowedServers
from poolpilot.serve.page.page_application import create_page
from poolpilot.serve.page.play import playground as playground_module
from poolpilot.serve.page.play.playground import BURST, SIZES, Playground, PlaygroundBusyError
from poolpilot.serve.page.play.recorded_profile import RecordedProfile

CORE = (16, 3, 10)


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[TestClient]:
    """A client of a page that plays."""
    servers = FollowedServers(tmp_path)
    with TestClient(create_page(servers, Playground()), base_url="http://127.0.0.1") as client:
        yield client
    servers.close()


def asked(client: TestClient, **values: Any) -> Any:
    knobs: dict[str, Any] = {"pool_size": 16, "oversubscribe": 3, "stall_limit_ms": 10, "profile": "page_faults"}
    return client.get("/v1/play", params=knobs | values)


def test_answer_has_the_chosen_configuration_all_sizes_and_the_error(asking: TestClient) -> None:
    answer = asked(asking)
    told = json.loads(answer.text, parse_constant=pytest.fail)
    assert answer.status_code == 200
    assert told["chosen"]["pool_tuple"] == [16, 3, 10]
    assert told["chosen"]["measured_throughput_per_s"] > 0
    assert [row["pool_tuple"] for row in told["by_size"]] == [[size, 3, 10] for size in SIZES]
    low, high = told["chosen"]["throughput_interval"]
    ratio = told["errors"]["throughput"]
    rate = told["chosen"]["throughput_per_s"]
    assert (low, high) == pytest.approx((rate * ratio[0], rate * ratio[1]))


def test_every_profile_answers(asking: TestClient) -> None:
    choices = asking.get("/v1/profiles").json()
    assert len(choices["profiles"]) > 10
    for name in choices["profiles"][:3]:
        assert asked(asking, profile=name).json()["chosen"]["throughput_per_s"] > 0


@pytest.mark.parametrize(
    ("values", "field", "says"),
    [
        ({"profile": "no_such"}, "query.profile", "no sweep of a family 'no_such'"),
        ({"profile": "../../etc/passwd"}, "query.profile", "no sweep of a family"),
        ({"pool_size": 100_000}, "query", "pool_size is 100000, outside the allowed range"),
        ({"pool_size": 1_000_000_000}, "query.pool_size", "a whole number"),
        ({"pool_size": "-1"}, "query.pool_size", "a whole number"),
        ({"stall_limit_ms": ""}, "query.stall_limit_ms", "a whole number"),
        ({"oversubscribe": "3.5"}, "query.oversubscribe", "a whole number"),
        ({"colour": "red"}, "query.colour", "no such parameter"),
    ],
)
def test_what_cannot_be_simulated_is_refused(asking: TestClient, values: Any, field: str, says: str) -> None:
    refused = asked(asking, **values)
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")
    assert (refused.json()["reason"], refused.json()["field"]) == ("bad_field", field)
    assert says in refused.json()["detail"]


def test_it_is_not_asked_faster_than_a_hand_drags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playground_module, "RATE_PER_S", 1e-6)
    playground = Playground()
    for _ in range(BURST):
        playground.answer("page_faults", CORE)
    with pytest.raises(PlaygroundBusyError):
        playground.answer("page_faults", CORE)


def test_too_many_questions_are_told_to_come_again(asking: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise PlaygroundBusyError("the simulator is busy: ask again in a second")

    monkeypatch.setattr(Playground, "answer", busy)
    refused = asked(asking)
    assert (refused.status_code, refused.json()["reason"]) == (429, "too_many_requests")


def test_a_configuration_is_simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    playground = Playground()
    first = playground.answer("page_faults", CORE)
    asked: list[object] = []
    monkeypatch.setattr(RecordedProfile, "simulated", lambda _, cores: asked.append(cores))
    assert playground.answer("page_faults", CORE) == first
    assert asked == []


def test_one_waits_for_the_other_and_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playground_module, "WAITS_S", 0.05)
    begun, may_end = threading.Event(), threading.Event()

    class Slow(Playground):
        def _answer(self, *_: object) -> dict[str, Any]:
            begun.set()
            assert may_end.wait(30.0)
            return {}

    playground = Slow()
    thread = threading.Thread(target=playground.answer, args=("page_faults", CORE))
    thread.start()
    assert begun.wait(30.0)
    with pytest.raises(PlaygroundBusyError):
        playground.answer("page_faults", CORE)
    may_end.set()
    thread.join()


def test_a_tuners_page_has_nothing_to_play_with(tmp_path: Path) -> None:
    servers = FollowedServers(tmp_path)
    with TestClient(create_page(servers), base_url="http://127.0.0.1") as client:
        assert client.get("/v1/play").status_code == 404
        assert client.get("/v1/servers").json()["plays"] is False
    servers.close()
