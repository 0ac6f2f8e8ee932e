"""The page on a port: for the duration of a block, on loopback alone, whatever its clients do."""

import socket
import threading
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from tests.serve.page.conftest import WrittenLog

from poolpilot.errors import ServerError
from poolpilot.serve.page.page_server import PageServer


def port_of(server: PageServer) -> int:
    return int(server.url.rpartition(":")[2].strip("/"))


def test_it_answers_while_the_block_lasts(written: Callable[..., WrittenLog], tmp_path: Path) -> None:
    log = written()
    server = PageServer(tmp_path, 0)
    with server.running():
        log.turn(3)
        assert httpx2.get(f"{server.url}v1/decisions").json()["latest"] == 3
        log.turn(2)
        assert httpx2.get(f"{server.url}v1/decisions?after=3").json()["latest"] == 5
        assert httpx2.get(server.url).text.startswith("<!doctype html>")
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(server.url)
    assert not any(thread.name == "page" for thread in threading.enumerate())


def test_it_listens_on_loopback_alone(tmp_path: Path) -> None:
    server = PageServer(tmp_path, 0)
    with server.running():
        assert server.url.startswith("http://127.0.0.1:")
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", port_of(server)), timeout=5.0).close()


def test_it_does_not_keep_a_process_alive(tmp_path: Path) -> None:
    with PageServer(tmp_path, 0).running():
        assert [thread.daemon for thread in threading.enumerate() if thread.name == "page"] == [True]


def test_port_in_use_is_one_sentence_with_the_option(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServerError, match=f"port {port} on 127.0.0.1 is in use: .* name another with --page"):
            PageServer(tmp_path, port, "--page")


def test_client_that_sends_nothing_holds_nobody_up(tmp_path: Path) -> None:
    server = PageServer(tmp_path, 0)
    with server.running():
        idle = [socket.create_connection(("127.0.0.1", port_of(server)), timeout=10.0) for _ in range(12)]
        try:
            assert httpx2.get(f"{server.url}healthz").json() == {"status": "ok"}
        finally:
            for connection in idle:
                connection.close()


def test_what_the_environment_says_of_the_prediction_service_is_not_for_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POOLPILOT_SERVE_HOST", "0.0.0.0")
    monkeypatch.setenv("POOLPILOT_SERVE_PORT", "1")
    with (server := PageServer(tmp_path, 0)).running():
        assert httpx2.get(f"{server.url}healthz").status_code == 200
