"""`poolpilot page` and `poolpilot tune --page`: an address on the terminal, the page behind it, and mistakes."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from poolpilot.mariadb.restoration.journal import FOLDER_VARIABLE

SIMULATED = ("--backend", "simulated", "--set", "seed=3")

Invoke = Callable[..., Any]


@pytest.fixture(autouse=True)
def journals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_it_serves_what_tuners_of_this_user_decided_until_it_is_interrupted(invoke: Invoke) -> None:
    invoke("tune", *SIMULATED, "--seconds", 10)
    program = "from poolpilot.serve.commands.main import main; main()"
    command = [sys.executable, "-c", program, "page", "--port", "0"]
    environment = {**os.environ, "COLUMNS": "40"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as page:
        assert page.stdout is not None
        assert page.stderr is not None
        try:
            line = page.stdout.readline()
            url = line.split()[-3]
            servers = httpx2.get(f"{url}v1/servers", timeout=30.0).json()["servers"]
        finally:
            page.send_signal(signal.SIGINT)
        errors = page.stderr.read()
    assert [server["name"] for server in servers] == ["page_faults-3-0"]
    assert (page.returncode, errors) == (130, "")


def test_folder_that_there_is_not_is_one_sentence(invoke: Invoke, tmp_path: Path) -> None:
    result = invoke("page", tmp_path / "nowhere")
    assert result.code == 1
    assert "there is no folder" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(("arguments", "option"), [(("page", "--port"), "--port"), (("tune", "--page"), "--page")])
def test_port_in_use_is_one_sentence(invoke: Invoke, arguments: tuple[str, str], option: str) -> None:
    command, flag = arguments
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = invoke(command, flag, port, *(SIMULATED if command == "tune" else ()))
    assert result.code == 1
    said = f"port {port} on 127.0.0.1 is in use: end what listens there or name another with {option}\n"
    assert result.err == f"poolpilot: {said}"


@pytest.mark.parametrize("arguments", [("page", "--port", 70_000), ("tune", "--page", 70_000, *SIMULATED)])
def test_port_that_is_none_is_one_sentence(invoke: Invoke, arguments: tuple[object, ...]) -> None:
    result = invoke(*arguments)
    assert result.code in (1, 2)
    assert "65535" in result.err
    assert "Traceback" not in result.err


def test_keeper_has_no_page(invoke: Invoke) -> None:
    result = invoke("tune", "S=/nowhere", "--keeper", "--page", 0)
    assert result.code == 1
    assert "--keeper decides nothing that a page could show" in result.err


def test_tuner_shows_its_decisions_while_it_runs(invoke: Invoke) -> None:
    port = free_port()
    told: list[dict[str, Any]] = []

    def look() -> None:
        ends_s = time.monotonic() + 60.0
        while not told and time.monotonic() < ends_s:
            try:
                answer = httpx2.get(f"http://127.0.0.1:{port}/v1/decisions", timeout=5.0)
            except httpx2.TransportError:
                time.sleep(0.02)
                continue
            if answer.status_code == 200 and answer.json()["decisions"]:
                told.append(answer.json())

    browser = threading.Thread(target=look)
    browser.start()
    result = invoke("tune", *SIMULATED, "--seconds", 300, "--page", port)
    browser.join()
    assert (result.code, result.err) == (0, "")
    assert f"Decisions are shown at http://127.0.0.1:{port}/." in result.out
    assert told
    assert told[0]["server"] == "."
    with pytest.raises(httpx2.ConnectError):
        httpx2.get(f"http://127.0.0.1:{port}/healthz")


def test_watching_without_a_terminal_prints_lines(invoke: Invoke) -> None:
    result = invoke("tune", *SIMULATED, "--seconds", 10, "--watch")
    assert (result.code, result.err) == (0, "")
    assert "watch: watching: 1 windows of 4" in result.out
