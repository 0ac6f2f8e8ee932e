"""`poolpilot serve`: it starts on loopback or says in one sentence why not."""

import signal
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from poolpilot.errors import ServerError
from poolpilot.models.advisor.advisor import Advisor
from poolpilot.serve.service import http_server
from poolpilot.serve.service.http_server import listening_socket
from poolpilot.serve.service.outcomes.outcome_log import OutcomeLog


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, predictor: Advisor) -> None:
    """Puts a predictor in the place of the models."""
    monkeypatch.setattr(Advisor, "load", lambda _: predictor)


def test_refuses_an_address_that_others_reach(invoke: Callable[..., Any]) -> None:
    result = invoke("serve", "--host", "0.0.0.0")
    assert result.code == 1
    assert "bearer tokens and TLS only" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.usefixtures("served")
def test_a_port_in_use_is_one_sentence(invoke: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = invoke("serve", "--port", port)
    assert result.code == 1
    assert result.err == f"poolpilot: port {port} on 127.0.0.1 is in use: end what listens there or choose --port\n"


def test_a_missing_champion_is_one_sentence(invoke: Callable[..., Any], tmp_path: Path) -> None:
    result = invoke("serve", "--model", tmp_path / "nowhere", "--port", 0)
    assert result.code == 1
    assert "nowhere" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.usefixtures("served")
def test_file_of_tokens_that_others_may_read_is_one_sentence(invoke: Callable[..., Any], tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"predict {'a' * 40}\n", encoding="ascii")
    tokens.chmod(0o644)
    result = invoke("serve", "--token-file", tokens, "--port", 0)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "must have 0600" in result.err


@pytest.mark.usefixtures("served")
def test_folder_of_outcomes_of_another_service_is_one_sentence(invoke: Callable[..., Any], tmp_path: Path) -> None:
    with OutcomeLog(tmp_path, 2**20):
        result = invoke("serve", "--outcomes", tmp_path, "--port", 0)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "another process keeps outcomes" in result.err


def test_small_answers_are_not_held_back_for_acknowledgements() -> None:
    with listening_socket("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_an_address_that_is_not_here_is_one_sentence() -> None:
    documentation_network = "192.0.2.1"  # RFC 5737: no machine has it
    with pytest.raises(ServerError, match=r"cannot listen on 192\.0\.2\.1 port 8750: "):
        listening_socket(documentation_network, 8750)


@pytest.mark.usefixtures("served")
def test_answers_over_a_real_socket_until_interrupted(
    invoke: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, request_values: dict[str, Any]
) -> None:
    listener = listening_socket("127.0.0.1", 0)
    monkeypatch.setattr(http_server, "listening_socket", lambda *_, **__: listener)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    answers: list[httpx2.Response] = []

    def ask_then_interrupt() -> None:
        try:
            answers.append(httpx2.post(f"{address}/v1/predict", json=request_values, timeout=30))
        finally:
            signal.raise_signal(signal.SIGINT)

    client = threading.Thread(target=ask_then_interrupt)
    client.start()
    result = invoke("serve")
    client.join()
    assert result.code == 130
    assert f"{address}/v1/predict" in result.out
    assert [answer.status_code for answer in answers] == [200]
